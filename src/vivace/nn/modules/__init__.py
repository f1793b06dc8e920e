"""Every layer, under the names of torch.nn.modules."""

from .activation import *
from .batchnorm import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .instancenorm import *
from .linear import *
from .loss import *
from .module import Module
from .normalization import *
from .padding import *
from .pooling import *
from .sparse import *
from .vision import *

"""torch.nn.functional: native operators, and Python over them.

No `__getattr__` here: it would make each `F.linear` three times as slow to look up.
"""

from types import FunctionType as _FunctionType

from vivace import _C

from ._functional import _autocast
from ._functional.attention import multi_head_attention_forward
from ._functional.linear_cross_entropy import *
from ._functional.loss import *
from ._functional.resize import *
from ._functional.sampling import *
from ._functional.shuffle import *
from ._functional.vectors import *
from ._functional.windows import *

_C.install(globals(), "nn.functional")  # a native operator takes the place of a composition above ...

from ._functional.activation import *  # noqa: E402  ... and Python completes the signature of some of them
from ._functional.pooling import *  # noqa: E402

for _name, _value in list(globals().items()):
    if isinstance(_value, _FunctionType):
        _value.__module__ = __name__  # where pickles find it
        globals()[_name] = _C.overridable(_value, in_float32=_name in _autocast.names)

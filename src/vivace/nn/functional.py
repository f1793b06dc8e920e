"""torch.nn.functional: native operators, and Python over them."""

from vivace import _C

from ._functional.loss import *
from ._functional.vectors import *

_C.install(globals(), "nn.functional")  # a native operator takes the place of a composition above ...

from ._functional.activation import *  # noqa: E402  ... and Python completes the signature of some of them
from ._functional.vision import *  # noqa: E402


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.nn.functional.{name}")

"""torch.nn.functional: native operators, and Python over them."""

from vivace import _C

from ._functional.loss import *
from ._functional.vectors import *

_C.install(globals(), "nn.functional")  # a native operator takes the place of a composition above ...

from ._functional.activation import *  # noqa: E402  ... and Python completes the signature of some of them
from ._functional.vision import *  # noqa: E402


def __getattr__(name):
    if name == "multi_head_attention_forward":
        from ._functional.attention import multi_head_attention_forward

        return multi_head_attention_forward
    raise AttributeError(f"vivace does not have torch.nn.functional.{name}")

"""torch.nn: layers and what they are made of."""

from vivace._lazy import lazily

from . import functional, init, modules
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", *modules.HOME]

__getattr__, __dir__ = lazily(
    "vivace.nn",
    {**modules.HOME, "DataParallel": "vivace.nn.parallel", "LinearCrossEntropyOptions": "vivace.nn._chunks"},
    listed=False,
)

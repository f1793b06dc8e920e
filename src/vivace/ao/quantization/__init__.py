"""torch.ao.quantization: the stubs pass tensors on, as PyTorch's do in a model that is not quantized; what quantizes
refuses.
"""

from vivace._lazy import refusing
from vivace.nn import Module

__all__ = ["DeQuantStub", "QuantStub"]


class QuantStub(Module):
    """Marks where tensors would be quantized."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    """Marks where tensors would be turned back."""


__getattr__ = refusing(__name__, "vivace has no quantized tensors: torch.ao.quantization cannot be used")

"""Decorators of functions that packages register for exports."""

from vivace._lazy import refusing


def parse_args(*descriptors):
    """A decorator that gives the function back: exports, which would call it, don't exist."""
    return lambda function: function


__getattr__ = refusing(__name__, "vivace runs programs and exports none: torch.onnx cannot be used")

"""torch.onnx, which vivace does not have: the question is answered, everything else refuses."""

from vivace._lazy import refusing

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export():
    return False


__getattr__ = refusing(__name__, "vivace runs programs and exports none: torch.onnx cannot be used")

"""What functions registered for exports call; it refuses."""

from vivace._lazy import refusing

__getattr__ = refusing(__name__, "vivace runs programs and exports none: torch.onnx cannot be used")

"""torch.mps, which vivace does not have: questions are answered, everything else refuses."""

from vivace._absent import device_count, is_available, manual_seed, seed
from vivace._lazy import refusing

__all__ = ["device_count", "is_available", "manual_seed", "seed"]

__getattr__ = refusing(
    __name__,
    "Torch not compiled with MPS enabled: vivace runs on the CPU, torch.mps.is_available() is False, and nothing in "
    "torch.mps can be used",
    AssertionError,
)

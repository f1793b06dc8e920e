"""torch.mtia, which vivace does not have: questions are answered, everything else refuses."""

from vivace._absent import device_count, empty_cache, is_available, is_initialized, manual_seed, manual_seed_all
from vivace._lazy import refusing

__all__ = ["device_count", "empty_cache", "is_available", "is_initialized", "manual_seed", "manual_seed_all"]

__getattr__ = refusing(
    __name__,
    "Torch not compiled with MTIA enabled: vivace runs on the CPU, torch.mtia.is_available() is False, and nothing in "
    "torch.mtia can be used",
    AssertionError,
)

"""torch.xpu, which vivace does not have: questions are answered, everything else refuses."""

from vivace._absent import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
)
from vivace._lazy import refusing

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
]

__getattr__ = refusing(
    __name__,
    "Torch not compiled with XPU enabled: vivace runs on the CPU, torch.xpu.is_available() is False, and nothing in "
    "torch.xpu can be used",
    AssertionError,
)

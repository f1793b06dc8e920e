"""torch.cuda on a machine without it: questions are answered, everything else refuses."""

from vivace._errors import AcceleratorError as AcceleratorError
from vivace._errors import OutOfMemoryError as OutOfMemoryError
from vivace._lazy import refusing
from vivace.cuda import amp as amp

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def is_available():
    return False


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Nothing to seed."""


def manual_seed_all(seed):
    """Nothing to seed."""


def empty_cache():
    """Nothing to empty."""


def memory_allocated(device=None):
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated

__getattr__ = refusing(
    __name__,
    "Torch not compiled with CUDA enabled: vivace runs on the CPU, torch.cuda.is_available() is False, and nothing in "
    "torch.cuda can be used",
    AssertionError,
)

"""torch.cuda on a machine without it: questions are answered, everything else refuses."""

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


__getattr__ = refusing(
    __name__, "vivace runs on the CPU: torch.cuda.is_available() is False, and nothing in torch.cuda can be used"
)

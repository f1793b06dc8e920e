"""torch.cuda on a machine without it: questions are answered, everything else refuses."""

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


def _refuse(*args, **kwargs):
    raise RuntimeError(
        "vivace runs on the CPU: torch.cuda.is_available() is False, and nothing in torch.cuda can be used"
    )


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"vivace does not have torch.cuda.{name}")
    return _refuse

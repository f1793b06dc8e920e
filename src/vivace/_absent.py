"""What modules of devices that vivace does not have answer, so that programs choose the CPU."""

from contextlib import nullcontext

__all__ = [
    "device_count", "empty_cache", "get_arch_list", "get_rng_state_all", "is_available", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "seed", "seed_all", "set_rng_state_all", "stream",
]  # fmt: skip


def is_available():
    return False


def is_initialized():
    return False


def device_count():
    return 0


def get_arch_list():
    return []


def manual_seed(seed):
    """Nothing to seed."""


def manual_seed_all(seed):
    """Nothing to seed."""


def seed():
    """Nothing to seed."""


def seed_all():
    """Nothing to seed."""


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    """Nothing to set."""


def empty_cache():
    """Nothing to empty."""


def memory_allocated(device=None):
    return 0


def memory_stats(device=None):
    return {}


def stream(stream):
    """A block that runs as it is, which PyTorch has for no stream, None."""
    return nullcontext()


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated

"""torch.cuda on a machine without it: questions are answered, everything else refuses."""

from vivace._absent import (
    device_count,
    empty_cache,
    get_arch_list,
    get_rng_state_all,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    seed,
    seed_all,
    set_rng_state_all,
    stream,
)  # fmt: skip
from vivace._errors import AcceleratorError as AcceleratorError
from vivace._errors import OutOfMemoryError as OutOfMemoryError
from vivace._lazy import refusing
from vivace.cuda import amp as amp

__all__ = [
    "device_count", "empty_cache", "get_arch_list", "get_rng_state_all", "is_available", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "seed", "seed_all", "set_rng_state_all", "stream",
]  # fmt: skip


def is_bf16_supported(including_emulation=True):
    return False


__getattr__ = refusing(
    __name__,
    "Torch not compiled with CUDA enabled: vivace runs on the CPU, torch.cuda.is_available() is False, and nothing in "
    "torch.cuda can be used",
    AssertionError,
)

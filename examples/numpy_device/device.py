"""The module torch.npy: what torch.accelerator and torch.random ask of a device."""

import torch

from . import memory

_current = 0


def is_available():
    return True


def is_initialized():
    return True


def device_count():
    return len(memory.allocated)


def current_device():
    return _current


def set_device(index):
    global _current
    _current = torch.device("npy", index).index if isinstance(index, int) else torch.device(index).index


def synchronize(device=None):
    """Nothing runs behind the program's back."""


def memory_allocated(device=None):
    """Bytes that tensors of a device take."""
    return memory.allocated[_current if device is None else device]


def manual_seed_all(seed):
    """Random numbers are drawn on the CPU."""


def _is_in_bad_fork():
    return False


def get_amp_supported_dtype():
    return [torch.float16]

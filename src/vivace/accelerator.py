"""torch.accelerator: the private backend, if the program has one (docs/backends.md). Without one questions are answered
and everything else refuses.
"""

from vivace import _C, _backend

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def _ask(function, *args):
    """Calls a function of the device module."""
    if not _C._backend_is_claimed():
        raise RuntimeError(
            "vivace runs on the CPU: torch.accelerator.is_available() is False, and there is nothing to control"
        )
    found = getattr(_backend.device_module(), function, None)
    if found is None:
        raise RuntimeError(f"torch.{_backend.name()} has no function {function}(), which torch.accelerator calls")
    return found(*args)


def device_count():
    return _ask("device_count") if _C._backend_is_claimed() and _backend.device_module() else 0


def is_available():
    """Whether the program has a backend with a device."""
    if not _C._backend_is_claimed():
        return False
    hooks = _backend.hooks()
    return bool(hooks.is_available()) if hooks is not None else device_count() > 0


def current_accelerator(check_available=False):
    """The device type of the accelerator, as a device without a number; None without one."""
    if not _C._backend_is_claimed() or (check_available and not is_available()):
        return None
    return _C.device(_backend.name())


def _index_of(device):
    if device is None:
        return current_device_index()
    if isinstance(device, int):
        return device
    device = _C.device(device)
    if device.type != _backend.name():
        raise ValueError(f"{device.type} doesn't match the current accelerator {current_accelerator()}.")
    return current_device_index() if device.index is None else device.index


def current_device_index():
    """The number of the device that is in use."""
    _ask("device_count")
    return _C._backend_device_index()


def set_device_index(device, /):
    """Makes a device the one in use: `torch.device(NAME)` without a number means it."""
    index = _index_of(device)
    if index < 0:
        return
    if index >= device_count():
        raise RuntimeError(f"device index {index} is out of range: there are {device_count()} devices")
    _C._set_backend_device_index(index)
    chosen = getattr(_backend.device_module(), "set_device", None)
    if chosen is not None:
        chosen(index)


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """A scope in which a device is the one in use; None changes nothing."""

    def __init__(self, device, /):
        self.idx = device
        self.prev_idx = -1

    def __enter__(self):
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exception):
        if self.idx is not None:
            set_device_index(self.prev_idx)


def synchronize(device=None, /):
    """Waits for the device."""
    _ask("synchronize", _index_of(device))


def current_stream(device=None, /):
    return _ask("current_stream", _index_of(device))


def set_stream(stream):
    _ask("set_stream", stream)


def empty_cache():
    _ask("empty_cache")


def memory_stats(device_index=None, /):
    return _ask("memory_stats", _index_of(device_index))


def memory_allocated(device_index=None, /):
    return _ask("memory_allocated", _index_of(device_index))


def max_memory_allocated(device_index=None, /):
    return _ask("max_memory_allocated", _index_of(device_index))


def memory_reserved(device_index=None, /):
    return _ask("memory_reserved", _index_of(device_index))


def max_memory_reserved(device_index=None, /):
    return _ask("max_memory_reserved", _index_of(device_index))


def reset_accumulated_memory_stats(device_index=None, /):
    _ask("reset_accumulated_memory_stats", _index_of(device_index))


def reset_peak_memory_stats(device_index=None, /):
    _ask("reset_peak_memory_stats", _index_of(device_index))

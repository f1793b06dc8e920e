"""torch.cpu: the CPU asked like an accelerator."""

import contextlib

from vivace.cpu import amp as amp

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """Operators run in the order in which they are called; there is nothing to wait for."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Returns at once."""

    def record_event(self):
        return Event()

    def wait_event(self, event):
        """Returns at once."""


class Event:
    """An event that has happened."""

    def query(self):
        return True

    def record(self, stream=None):
        """Nothing to note."""

    def synchronize(self):
        """Returns at once."""

    def wait(self, stream=None):
        """Returns at once."""


_current = Stream()


def is_available():
    return True


def is_initialized():
    return True


def device_count():
    return 1


def current_device():
    return "cpu"


def set_device(device):
    """There is one."""


def synchronize(device=None):
    """Returns at once."""


def current_stream(device=None):
    return _current


def stream(stream):
    """A with block that changes nothing."""
    return contextlib.nullcontext()

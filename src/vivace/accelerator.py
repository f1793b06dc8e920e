"""torch.accelerator on a machine without one: questions are answered, everything else refuses."""

from vivace._lazy import refusing

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available():
    return False


def device_count():
    return 0


def current_accelerator(check_available=False):
    return None


__getattr__ = refusing(
    __name__, "vivace runs on the CPU: torch.accelerator.is_available() is False, and there is nothing to control"
)

"""torch.nn.attention: the choice of a kernel for attention. There is one here, whatever is chosen."""

from contextlib import contextmanager
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """The kernels that PyTorch chooses from."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A block in which attention may use only the given kernels."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise TypeError(f"sdpa_kernel: backends must be SDPBackend or a list of them, but got {backends}")
    yield

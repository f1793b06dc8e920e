"""torch.distributed, which vivace does not have: questions are answered, everything else refuses."""

from vivace._lazy import refusing

__all__ = ["is_available", "is_initialized"]


def is_available():
    return False


def is_initialized():
    return False


def is_torchelastic_launched():
    return False


def is_nccl_available():
    return False


def is_gloo_available():
    return False


def is_mpi_available():
    return False


class group:
    """The groups of processes that exist before there are any."""

    WORLD = None


__getattr__ = refusing(
    __name__, "vivace runs in one process: torch.distributed.is_available() is False, and nothing in it can be used"
)

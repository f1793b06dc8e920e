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


def get_rank(group=None):
    """Refused as by PyTorch before there is a group of processes."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


get_world_size = get_rank


class group:
    """The groups of processes that exist before there are any."""

    WORLD = None


__getattr__ = refusing(
    __name__, "vivace runs in one process: torch.distributed.is_available() is False, and nothing in it can be used"
)

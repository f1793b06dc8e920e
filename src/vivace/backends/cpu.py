"""torch.backends.cpu."""

from vivace import _C

__all__ = ["get_cpu_capability"]


def get_cpu_capability():
    """The instruction set of the loops: "AVX512", "AVX2" or "DEFAULT"."""
    return _C._get_cpu_capability()

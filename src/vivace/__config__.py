"""torch.__config__: what this build is, as texts."""

import os
import platform

from vivace import _C
from vivace.version import __version__

__all__ = ["parallel_info", "show"]


def show():
    """The version, the interpreter and the instruction set in use."""
    return (
        f"vivace {__version__}, built with:\n"
        f"  - Python {platform.python_version()}\n"
        f"  - CPU capability usage: {_C._get_cpu_capability()}\n"
    )


def parallel_info():
    """How many threads there are."""
    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {_C.get_num_threads()}\n"
        f"std::thread::hardware_concurrency() : {os.cpu_count()}\n"
        "Environment variables:\n"
        f"\tOMP_NUM_THREADS : {os.environ.get('OMP_NUM_THREADS', '[not set]')}\n"
        "ATen parallel backend: native thread pool\n"
    )

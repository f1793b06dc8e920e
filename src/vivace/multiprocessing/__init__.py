"""torch.multiprocessing: Python's multiprocessing, in which tensors that go to another process share their memory.

The names are those of `multiprocessing` itself, whose queues, pipes and pools pickle through `reductions`.
"""

import multiprocessing
from multiprocessing import *

from vivace.multiprocessing._children import tell_children
from vivace.multiprocessing.reductions import init_reductions
from vivace.multiprocessing.spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_OWN = [
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ = [*_OWN, *multiprocessing.__all__]

_STRATEGIES = ("file_descriptor", "file_system")
_strategy = "file_descriptor"


def get_all_sharing_strategies():
    """The names that set_sharing_strategy takes."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Accepts PyTorch's names. Here memory is always passed by the name of a file, and no file stays open."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {', '.join(_STRATEGIES)}")
    _strategy = new_strategy


init_reductions()
tell_children()

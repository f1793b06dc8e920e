"""Processes that are spawned run the main module again: where torch is vivace here, it has to be vivace there.

What a child is to prepare is pickled and read before anything else runs in it, so reading it installs the alias.
"""

import functools
import sys
from multiprocessing import forkserver, spawn

import vivace
from vivace import _alias


class _Alias:
    """Reading its pickle lets torch be vivace."""

    def __reduce__(self):
        return _alias.install, ()


def _with_alias(get_preparation_data):
    @functools.wraps(get_preparation_data)
    def prepared(name):
        data = get_preparation_data(name)
        if sys.modules.get("torch") is vivace:
            data["torch"] = _Alias()
        return data

    return prepared


def tell_children():
    """From here on processes that multiprocessing spawns know torch as this one does."""
    if hasattr(spawn.get_preparation_data, "__wrapped__"):
        return
    spawn.get_preparation_data = _with_alias(spawn.get_preparation_data)
    # From Python 3.14 on the server of forks runs the main module before it is told anything.
    server = forkserver._forkserver
    server._preload_modules = [name for name in server._preload_modules if name != "__main__"]

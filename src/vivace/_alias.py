"""Makes `import torch` give vivace, whether or not PyTorch is installed.

`torch.x.y` and `vivace.x.y` are one module object, so a class is the same class whichever name led to it.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys

import vivace
from vivace._lazy import NAME_THE_EXTENSION, HandedOut

_STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in _STARTERS:  # the first process that does not fork is about to be started
            importlib.import_module("vivace.multiprocessing._children").tell_children()
        top, dot, rest = name.partition(".")
        if top != "torch":
            return None
        real = "vivace" + dot + rest
        if rest == "_C":  # `from torch._C import DispatchKey`
            for late in NAME_THE_EXTENSION:
                _ = importlib.import_module(late).__name__  # reading loads it
        try:
            module = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name is None or not (real == error.name or real.startswith(error.name + ".")):
                raise  # the module exists, and misses another one
            raise ModuleNotFoundError(f"vivace does not have the module {name}", name=name) from None
        return importlib.machinery.ModuleSpec(name, HandedOut(module), is_package=hasattr(module, "__path__"))


FINDER = _Finder()


def install():
    """From here on, torch is vivace. Does nothing the second time; refuses if PyTorch is loaded."""
    loaded = sys.modules.get("torch")
    if loaded is vivace:
        return
    if loaded is not None:
        raise ImportError("vivace cannot stand in for torch: PyTorch is imported already")
    sys.meta_path.insert(0, FINDER)
    sys.modules["torch"] = vivace
    vivace.__name__ = "torch"  # packages ask a namespace for its name

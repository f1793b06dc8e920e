"""torch.utils: what is not mathematics. Submodules load when they are first used."""

import importlib

_SUBMODULES = {"data", "hooks"}


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"vivace.utils.{name}")
    raise AttributeError(f"vivace does not have torch.utils.{name}")

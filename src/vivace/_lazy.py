"""Submodules, and names of their contents, that load when a program first asks for them."""

import importlib


def submodule(package, name):
    """For `__getattr__` of a package: the submodule, or an AttributeError that says what vivace does not have."""
    full = f"{package}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
    raise AttributeError(f"vivace does not have torch{full.removeprefix('vivace')}") from None


def lazily(package, home):
    """The `__getattr__` of a package whose names come from the modules that `home` gives, or are submodules."""

    def __getattr__(name):
        if name not in home:
            return submodule(package, name)
        value = getattr(importlib.import_module(home[name]), name)
        setattr(importlib.import_module(package), name, value)  # the next read finds it
        return value

    return __getattr__

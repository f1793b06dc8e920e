"""Submodules that load when a program first asks for them."""

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

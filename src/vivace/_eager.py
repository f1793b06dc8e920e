"""What compiles in PyTorch: here a program gets back what it gave, which runs eagerly, and is told so once."""

import warnings

_told = set()


def tell_once(name, stacklevel=3):
    """Warns the first time that a compiler is asked for."""
    if name not in _told:
        _told.add(name)
        warnings.warn(f"torch.{name} compiles nothing in vivace: the code runs eagerly", stacklevel=stacklevel)


def unchanged(function=None, *args, **kwargs):
    """A decorator, with or without arguments, that gives the function back."""
    return function if callable(function) else lambda given: given


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """The model or function itself; also a decorator."""
    if not disable:
        tell_once("compile", stacklevel=4)  # below the name that loads this module
    return unchanged(model)

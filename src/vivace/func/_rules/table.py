"""Which rule an operator has in vmap. A rule is one of
- letters, one for each argument: the operator itself on physical tensors (runtime/vmap/vmap.cpp says what they mean);
- a function(info, in_dims, *args) of physical tensors, as PyTorch's `register_vmap` takes it: gives results and their
  out_dims;
- a function of the arguments as they are, which calls other operators.
Operators without one are called for each sample.
"""

from typing import NamedTuple

from vivace import _C
from vivace._library import registry

_DIMS = {"dim", "dims", "dim0", "dim1", "dim2", "dimension"}
_letters = {}  # name -> letters, or what makes them of [(argument, type)]
_functions = {}
_decomposed = {}
_random = set()


class Info(NamedTuple):
    """What a rule gets to know of its vmap."""

    batch_size: int
    randomness: str


def letters(text, *names):
    """Operators that are called themselves, with these letters."""
    _letters.update(dict.fromkeys(names, text))


def by_name(tensors, dims, *names):
    """The same; all tensors have one letter, and dims, known by the argument's name, another."""

    def make(arguments):
        return "".join(tensors if t in "TL" else dims if a in _DIMS and t in "iI" else "." for a, t in arguments)

    _letters.update(dict.fromkeys(names, make))


def rule(*names, random=False):
    """A decorator for functions of physical tensors. Calls that letters cover as well go by these."""

    def keep(function):
        _functions.update(dict.fromkeys(names, function))
        if random:
            _random.update(names)
        return function

    return keep


def decomposed(*names):
    """A decorator for functions that call other operators."""

    def keep(function):
        _decomposed.update(dict.fromkeys(names, function))
        return function

    return keep


def find(qualname, arguments, in_place, functional):
    """For the dispatcher: (kind, function, letters, random) of an operator, found once."""
    if qualname in registry.vmap_rules:
        return "function", registry.vmap_rules[qualname], "", False
    if kernels := registry.record(qualname).kernels.get("CompositeImplicitAutograd"):
        return "decomposed", kernels[-1][0], "", False
    name = qualname.removeprefix("aten::")
    random = name in _random
    for known in (name, functional.removeprefix("aten::")) if in_place else (name,):
        if known in _decomposed and known == name:
            return "decomposed", _decomposed[known], "", random
        text = _letters.get(known)
        function = _functions.get(known) if known == name else None
        if text is not None:
            return "places", function, text if isinstance(text, str) else text(arguments), random
        if function is not None:
            return "function", function, "", random
    known = functional.removeprefix("aten::")
    by_copy = in_place and (known in _functions or known in _decomposed)
    return "functional" if by_copy else "loop", None, "", random


def install(composites):
    """From here on calls know the rules. `composites`: operators that have one although they only call others."""
    _C._set_vmap_finder(find, Info, tuple(f"aten::{name}" for name in composites))

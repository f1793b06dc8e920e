"""Numbers that PyTorch's compiler leaves open: nothing makes one here, but programs ask whether they have one."""

import math

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
]  # fmt: skip


class SymInt:
    """An integer that the compiler leaves open."""


class SymFloat:
    """A float that the compiler leaves open."""


class SymBool:
    """A truth value that the compiler leaves open."""


def sym_int(a):
    """math.trunc."""
    return math.trunc(a)


def sym_float(a):
    """float(a)."""
    return float(a)


def sym_not(a):
    """not a."""
    return not a


def _as_common(a, b, chosen):
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_max(a, b):
    """The larger, a float if either is one."""
    return _as_common(a, b, max(a, b))


def sym_min(a, b):
    """The smaller, a float if either is one."""
    return _as_common(a, b, min(a, b))


def sym_sqrt(a):
    """math.sqrt."""
    return math.sqrt(a)


def sym_sum(args):
    """The sum of the numbers in a list."""
    return sum(args)


def sym_ite(b, t, f):
    """t if b, else f."""
    return t if b else f

"""Division in all its roundings, and remainders."""

import numpy as np

from catalogue.dtypes import floating_or_complex, int_to_float, real
from catalogue.kinds import binary, composite
from catalogue.pointwise.complex import conj
from catalogue.pointwise.rounding import floor, trunc
from catalogue.pointwise.select import where
from catalogue.pointwise.slope import no_slope
from catalogue.samples import pairs
from codegen.primitives import ComputeInFloat, copy_sign, fmod_, idiv, irem

_nonzero = pairs(-3, 3, 0.5, 4)


def _floor_floating(a, b):
    """Exact where a / b rounds up to an integer: the remainder decides."""
    mod = fmod_(a, b)
    quotient = (a - mod) / b
    quotient = where((mod != 0) & ((b < 0) != (mod < 0)), quotient - 1, quotient)
    floored = floor(quotient)
    floored = where(quotient - floored > 0.5, floored + 1, floored)
    floored = where(quotient != 0, floored, copy_sign(quotient * 0, a / b))
    return where(b == 0, a / b, floored)


def _crosses(rest, b):
    """Whether rounding down differs from rounding towards zero."""
    return (rest != 0) & ((rest < 0) != (b < 0))


def _floor_integer(a, b):
    quotient = idiv(a, b)
    return where(_crosses(a - quotient * b, b), quotient - 1, quotient)


def _mode(a, b, rounding_mode):
    quotient = a / b
    if rounding_mode == "trunc":
        return trunc(quotient)
    return quotient if rounding_mode is None else _floor_floating(a, b)


def _mode_integer(a, b, rounding_mode):
    if rounding_mode is None:
        raise ComputeInFloat
    return idiv(a, b) if rounding_mode == "trunc" else _floor_integer(a, b)


div = binary(
    "div",
    operator="/",
    overloads={"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    aliases="divide, true_divide",
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=lambda a, b: a / b,
    grad=lambda g, a, b: (g / conj(b), -g * conj(a / b / b)),
    ref=np.true_divide,
    samples=_nonzero,
    doc="a / b",
)


composite(
    "__rdiv__.Tensor(Tensor self, Tensor other) -> Tensor", kernel="rdiv_Tensor", variants="method", doc="other / self"
)
composite(
    "__rdiv__.Scalar(Tensor self, Scalar other) -> Tensor", kernel="rdiv_Scalar", variants="method", doc="other / self"
)


def _mode_boolean(a, b, rounding_mode):
    if rounding_mode is None:
        raise ComputeInFloat
    return a


div_mode = binary(
    "div",
    args="*, str? rounding_mode",
    overloads={"Tensor_mode": "TT", "Scalar_mode": "TS"},
    aliases="divide",
    choices={"rounding_mode": (None, "trunc", "floor")},
    kernel=_mode,
    integer=_mode_integer,
    boolean=_mode_boolean,
    complex=lambda a, b, rounding_mode: a / b,
    check="div_mode",
    grad=lambda g, a, b, rounding_mode: (
        (g / conj(b), -g * conj(a / b / b)) if rounding_mode is None else (no_slope(g), no_slope(g))
    ),
    samples=lambda s: (
        [s(s.t(3, 5), s.t(3, 5, low=0.5), rounding_mode=mode) for mode in (None, "trunc", "floor")]
        + [s(s.ints(7, low=-9), s.ints(7, low=1, high=4), rounding_mode=mode) for mode in ("trunc", "floor")]
    ),
    doc="a / b, rounded towards zero ('trunc') or down ('floor').",
)
floor_divide = binary(
    "floor_divide",
    overloads={"": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    operator="//",
    dtypes=real,
    kernel=_floor_floating,
    integer=_floor_integer,
    grad=lambda g: (no_slope(g), no_slope(g)),
    ref=np.floor_divide,
    samples=_nonzero,
    doc="a / b, rounded down.",
)


def _remainder(a, b):
    rest = fmod_(a, b)
    return where(_crosses(rest, b), rest + b, rest)


def _remainder_integer(a, b):
    rest = irem(a, b)
    return where(_crosses(rest, b), rest + b, rest)


remainder = binary(
    "remainder",
    overloads={"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    operator="%",
    dtypes=real,
    kernel=_remainder,
    integer=_remainder_integer,
    grad=lambda g, a, b: (g, -g * floor_divide(a, b)),
    ref=np.remainder,
    samples=_nonzero,
    doc="a - b * floor(a / b), with the sign of b.",
)
fmod = binary(
    "fmod",
    dtypes=real,
    kernel=lambda a, b: fmod_(a, b),
    integer=lambda a, b: irem(a, b),
    grad=lambda g, a, b: (g, -g * trunc(a / b)),
    ref=np.fmod,
    samples=_nonzero,
    doc="a - b * trunc(a / b), with the sign of a.",
)

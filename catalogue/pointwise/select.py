"""Choosing between values: by a condition, by size, by what a number is."""

from typing import Any

import numpy as np

from catalogue import math as m
from catalogue.dtypes import all_dtypes, floating, int_to_float, real, real_or_bool
from catalogue.kinds import binary, composite, pointwise, unary
from catalogue.pointwise.slope import no_slope
from catalogue.samples import pairs
from codegen.complex_expr import make
from codegen.primitives import copy_sign, imaginary_part, largest, number, real_part

INF = float("inf")

where = pointwise(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
    operands=("condition", "self", "other"),
    promoting=("self", "other"),
    masks=("condition",),
    check="where",
    out=True,
    dtypes=all_dtypes,
    kernel=lambda condition, self, other: where(condition, self, other),
    grad=lambda g, condition: (None, where(condition, g, 0), where(condition, 0, g)),
    ref=np.where,
    samples=lambda s: [
        s(s.mask(3, 5), s.t(3, 5), s.t(3, 5)),
        s(s.mask(5), s.t(3, 1), s.t(3, 5)),
        s(s.mask(7), s.t(7), 2.5),
        s(s.mask(7), 1.5, s.t(7)),
        s(s.mask(), s.t(0, 3), s.t()),
    ],
    doc="self where the condition holds, else other.",
)
composite(
    "where.method(Tensor self, Tensor condition, Tensor other) -> Tensor",
    kernel="where_method",
    variants="method",
    samples=None,
    doc="self where the condition holds, else other.",
)
composite(
    "where.method_Scalar(Tensor self, Tensor condition, Scalar other) -> Tensor",
    kernel="where_method_Scalar",
    variants="method",
    samples=None,
    doc="self where the condition holds, else other.",
)
masked_fill = pointwise(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    nodes={"Scalar": "MaskedFillBackward0", "Tensor": "MaskedFillBackward1"},
    operands=("self", "mask", "value"),
    promoting=("self",),
    masks=("mask",),
    inplace=True,
    row_major=True,
    dtypes=all_dtypes,
    check="masked_fill",
    kernel=lambda self, mask, value: where(mask, value, self),
    grad=lambda g, mask: (where(mask, 0, g), None, where(mask, g, 0)),
    ref=lambda a, mask, value: np.where(mask, value, a),
    samples=lambda s: [
        s(s.t(3, 5), s.mask(3, 5), -1.5),
        s(s.t(3, 5), s.mask(5), 0),
        s(s.t(3, 5), s.mask(3, 1), s.t()),
        s(s.t(), s.mask(), 2.0),
    ],
    doc="`value` where the mask holds, else self; the dtype is self's.",
)


def _clamp(self, min, max):
    if min is not None:
        self = maximum(self, min)
    return self if max is None else minimum(self, max)


def _clamp_grad(g, self, min, max):
    inside = None
    if min is not None:
        inside = self >= min
    if max is not None:
        inside = self <= max if inside is None else inside & (self <= max)
    by_self = g if inside is None else where(inside, g, 0)
    if min is not None and max is not None:
        by_min = where((self < min) & (min < max), g, 0)
        by_max = where((self > max) | (max < min), g, 0)
    else:
        by_min = where(self < min, g, 0) if min is not None else None
        by_max = where(self > max, g, 0) if max is not None else None
    return by_self, by_min, by_max


clamp = pointwise(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    operands=("self", "min", "max"),
    choices={"min": (None, ...), "max": (None, ...)},
    inplace=True,
    out=True,
    aliases="clip",
    dtypes=real,
    check="clamp",
    kernel=_clamp,
    grad=_clamp_grad,
    ref=np.clip,
    samples=lambda s: [
        s(s.t(3, 5), -1.0, 1.0),
        s(s.t(3, 5), min=0.5),
        s(s.t(7), max=0.5),
        s(s.t(7), s.t(7), s.t(7)),
        s(s.t(3, 5), s.t(5), None),
    ],
    writes=(),
    doc="self, but at least `min` and at most `max`.",
)
clamp_min = pointwise(
    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    nodes={"": "ClampMinBackward0", "Tensor": "ClampMinBackward1"},
    operands=("self", "min"),
    check="clamp_bound",
    inplace=True,
    out=True,
    dtypes=real_or_bool,
    kernel=lambda self, min: maximum(self, min),
    grad=lambda g, self, min: (where(self >= min, g, 0), where(self < min, g, 0)),
    ref=np.maximum,
    samples=lambda s: [s(s.t(3, 5), 0.5), s(s.t(3, 5), s.t(5))],
    writes=(),
    doc="self, but at least `min`.",
)
clamp_max = pointwise(
    "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    nodes={"": "ClampMaxBackward0", "Tensor": "ClampMaxBackward1"},
    operands=("self", "max"),
    check="clamp_bound",
    inplace=True,
    out=True,
    dtypes=real_or_bool,
    kernel=lambda self, max: minimum(self, max),
    grad=lambda g, self, max: (where(self <= max, g, 0), where(self > max, g, 0)),
    ref=np.minimum,
    samples=lambda s: [s(s.t(3, 5), 0.5), s(s.t(3, 5), s.t(5))],
    writes=(),
    doc="self, but at most `max`.",
)


def _share(g, a, b, loses):
    """Equal operands share the gradient; beside NaN nobody loses."""
    return where(a == b, g * 0.5, where(loses, 0, g))


_extreme: dict[str, Any] = {"overloads": {"": "TT"}, "inplace": False, "dtypes": real_or_bool, "samples": pairs()}
maximum = binary(
    "maximum",
    kernel=lambda a, b: maximum(a, b),
    grad=lambda g, a, b: (_share(g, a, b, a < b), _share(g, a, b, b < a)),
    ref=np.maximum,
    doc="The larger; NaN if either is.",
    **_extreme,
)
minimum = binary(
    "minimum",
    kernel=lambda a, b: minimum(a, b),
    grad=lambda g, a, b: (_share(g, a, b, a > b), _share(g, a, b, b > a)),
    ref=np.minimum,
    doc="The smaller; NaN if either is.",
    **_extreme,
)
fmax = binary(
    "fmax",
    kernel=lambda a, b: where((a > b) | (b != b), a, b),
    grad=lambda g, a, b: (where((a >= b) | (b != b), g, 0), where((a >= b) | (b != b), 0, g)),
    ref=np.fmax,
    doc="The larger; the other one if one is NaN.",
    **_extreme,
)
fmin = binary(
    "fmin",
    kernel=lambda a, b: where((a < b) | (b != b), a, b),
    grad=lambda g, a, b: (where((a <= b) | (b != b), g, 0), where((a <= b) | (b != b), 0, g)),
    ref=np.fmin,
    doc="The smaller; the other one if one is NaN.",
    **_extreme,
)
heaviside = binary(
    "heaviside",
    overloads={"": "TT"},
    dtypes=real_or_bool,
    kernel=lambda a, b: where(a == 0, b, number(a > 0, a)),
    ref=np.heaviside,
    samples=pairs(),
    writes=(),
    doc="0 below zero, 1 above it, b at zero.",
)


def _nan_to_num(a, nan, posinf, neginf):
    a = where(a == INF, largest(a) if posinf is None else posinf, a)
    a = where(a == -INF, -largest(a) if neginf is None else neginf, a)
    return where(a != a, 0 if nan is None else nan, a)


def _nan_to_num_complex(a, nan, posinf, neginf):
    return make(_nan_to_num(real_part(a), nan, posinf, neginf), _nan_to_num(imaginary_part(a), nan, posinf, neginf))


nan_to_num = unary(
    "nan_to_num",
    args="float? nan=None, float? posinf=None, float? neginf=None",
    choices={"nan": (None, ...), "posinf": (None, ...), "neginf": (None, ...)},
    kernel=_nan_to_num,
    integer=lambda a, nan, posinf, neginf: a,
    boolean=lambda a, nan, posinf, neginf: a,
    complex=_nan_to_num_complex,
    grad=lambda g, a: where(abs(a) < INF, g, 0),
    samples=lambda s: [s(s.values(1.0, float("nan"), INF, -INF)), s(s.t(3, 5), 1.0), s(s.t(3), nan=1.0, posinf=2.0)],
    writes=(),
    doc="NaN and infinities replaced by numbers (0 and the largest finite ones by default).",
)
without_nan = unary(
    "without_nan",
    namespace="private",
    inplace=False,
    out=False,
    dtypes=all_dtypes,
    kernel=lambda a: where(a != a, 0, a),
    grad=lambda g, a: where(a != a, 0, g),
    doc="a, or 0 where it is NaN.",
)
copysign = binary(
    "copysign",
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a, b: copy_sign(a, b),
    grad=lambda g, a, b, y: (where(a == 0, 0, g * (y / where(a == 0, 1, a))), no_slope(g)),
    ref=np.copysign,
    samples=pairs(),
    doc="|a| with the sign of b.",
)
nextafter = binary(
    "nextafter",
    overloads={"": "TT"},
    dtypes=floating - {"Float16", "BFloat16"},
    kernel=lambda a, b: m.nextafter(a, b),
    grad=lambda g: (g, no_slope(g)),
    samples=pairs(),
    doc="The next number after a in the direction of b.",
)

"""Sums, products, signs."""

import numpy as np

from catalogue.dtypes import all_dtypes, floating_or_complex, int_to_float, numeric, real_or_bool, real_part
from catalogue.kinds import binary, composite, pointwise, unary
from catalogue.pointwise.complex import conj
from catalogue.pointwise.select import where
from catalogue.pointwise.slope import no_slope
from catalogue.samples import one, pairs
from codegen.complex_expr import make
from codegen.expr import cpp, ops
from codegen.primitives import as_integer, number


def _scaled(a, alpha):
    """alpha * a; an infinite part makes no NaN with the imaginary part of a real alpha."""
    re, im = a.args
    x, y = alpha.args
    real = y == 0
    return make(where(real, re * x, re * x - im * y), where(real, im * x, re * y + im * x))


add = binary(
    "add",
    alpha=True,
    operator="+",
    commutative=True,
    overloads={"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    kernel=lambda a, b, alpha: a + b * alpha,
    complex=lambda a, b, alpha: a + _scaled(b, alpha),
    boolean=lambda a, b, alpha: a | (b & alpha),
    check="alpha",
    grad=lambda g, alpha: (g, cpp.scaled(g, alpha)),
    ref=np.add,
    samples=pairs(),
    doc="a + alpha * b",
)
sub = binary(
    "sub",
    alpha=True,
    operator="-",
    overloads={"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    aliases="subtract",
    dtypes=numeric,
    kernel=lambda a, b, alpha: a - b * alpha,
    complex=lambda a, b, alpha: a - _scaled(b, alpha),
    check="subtract",
    grad=lambda g, alpha: (g, cpp.scaled_negative(g, alpha)),
    ref=np.subtract,
    samples=pairs(),
    doc="a - alpha * b",
)
rsub = binary(
    "rsub",
    alpha=True,
    inplace=False,
    out=False,
    variants="function",
    dtypes=numeric,
    kernel=lambda a, b, alpha: b - a * alpha,
    complex=lambda a, b, alpha: b - _scaled(a, alpha),
    check="subtract",
    grad=lambda g, alpha: (cpp.scaled_negative(g, alpha), g),
    ref=lambda a, b: np.subtract(b, a),
    samples=pairs(),
    doc="b - alpha * a",
)
mul = binary(
    "mul",
    operator="*",
    commutative=True,
    overloads={"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"},
    aliases="multiply",
    kernel=lambda a, b: a * b,
    grad=lambda g, a, b: (g * conj(b), g * conj(a)),
    ref=np.multiply,
    samples=pairs(),
    doc="a * b",
)
neg = unary(
    "neg",
    aliases="negative",
    operator="-",
    dtypes=numeric,
    kernel=lambda a: -a,
    check="negate",
    grad=lambda g: -g,
    ref=np.negative,
    samples=one(),
    writes=(),
    doc="-a",
)
positive = composite(
    "positive(Tensor self) -> Tensor",
    kernel="positive",
    operator="+",
    ref=lambda a: a,
    samples=one(),
    doc="self itself.",
)
square = unary(
    "square",
    kernel=lambda a: a * a,
    boolean=as_integer,
    dtypes=all_dtypes,
    grad=lambda g, a: g * conj(a) * 2,
    ref=np.square,
    samples=one(),
    doc="a * a",
)
reciprocal = unary(
    "reciprocal",
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=lambda a: 1 / a,
    grad=lambda g, y: -g * conj(y * y),
    ref=lambda a: 1 / a,
    samples=one(0.5, 3),
    doc="1 / a",
)


def _sign(a):
    return number(a > 0, a) if a.type[0] == "u" else number(a > 0, a) - number(a < 0, a)


sign = unary(
    "sign",
    dtypes=real_or_bool,
    kernel=_sign,
    boolean=lambda a: a,
    grad=lambda g: no_slope(g),
    ref=np.sign,
    samples=one(),
    writes=(),
    doc="1, 0 or -1; 0 for NaN.",
)


def _sgn(a):
    length = abs(a)
    return where(length == 0, a * 0, a / length)


sgn = unary(
    "sgn",
    kernel=_sign,
    boolean=lambda a: a,
    complex=_sgn,
    grad=lambda g, a, y: where(abs(a) == 0, 0, (g - ops.real(g * conj(y)) * y) / where(abs(a) == 0, 1, abs(a))),
    ref=np.sign,
    samples=one(),
    writes=(),
    doc="The sign; of a complex number a / |a|.",
)
abs = unary(
    "abs",
    aliases="absolute",
    operator="abs",
    result=real_part,
    kernel=lambda a: abs(a),
    boolean=lambda a: a,
    dtypes=all_dtypes,
    grad=lambda g, a: g * sgn(a),
    ref=np.abs,
    samples=one(),
    writes=(),
    doc="The absolute value.",
)
addcmul = pointwise(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out=True,
    dtypes=numeric,
    kernel=lambda self, tensor1, tensor2, value: self + value * (tensor1 * tensor2),
    grad=lambda g, tensor1, tensor2, value: (g, g * conj(tensor2) * value, g * conj(tensor1) * value),
    ref=lambda self, tensor1, tensor2, value=1: self + value * tensor1 * tensor2,
    samples=lambda s: [
        s(s.t(3, 5), s.t(3, 5), s.t(3, 5)),
        s(s.t(3, 5), s.t(5), s.t(3, 1), value=0.5),
        s(s.t(), s.t(7), s.t()),
    ],
    doc="self + value * tensor1 * tensor2",
)
addcdiv = pointwise(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out=True,
    dtypes=floating_or_complex,
    kernel=lambda self, tensor1, tensor2, value: self + value * tensor1 / tensor2,
    grad=lambda g, tensor1, tensor2, value: (
        g,
        g * conj(value / tensor2),
        -g * conj(value * tensor1 / (tensor2 * tensor2)),
    ),
    ref=lambda self, tensor1, tensor2, value=1: self + value * tensor1 / tensor2,
    samples=lambda s: [
        s(s.t(3, 5), s.t(3, 5), s.t(3, 5, low=0.5)),
        s(s.t(3, 5), s.t(5), s.t(3, 1, low=0.5), value=0.5),
        s(s.t(), s.t(7), s.t(low=0.5)),
    ],
    doc="self + value * tensor1 / tensor2",
)
lerp = pointwise(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    inplace=True,
    out=True,
    dtypes=floating_or_complex,
    # From the nearer end, so that weight 1 gives `end` exactly.
    kernel=lambda self, end, weight: where(
        abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight)
    ),
    grad=lambda g, self, end, weight: (g * (1 - conj(weight)), g * conj(weight), g * conj(end - self)),
    ref=lambda self, end, weight: self + weight * (end - self),
    samples=lambda s: [
        s(s.t(3, 5), s.t(3, 5), 0.3),
        s(s.t(3, 5), s.t(5), 0.75),
        s(s.t(3, 5), s.t(3, 5), s.t(3, 5, low=0, high=1)),
        s(s.t(7), s.t(), s.t()),
    ],
    doc="self + weight * (end - self)",
)

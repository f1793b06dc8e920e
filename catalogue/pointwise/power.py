"""Powers and roots."""

import numpy as np

from catalogue import complex_math as c
from catalogue import math as m
from catalogue.dtypes import all_dtypes, floating, floating_or_complex, int_to_float
from catalogue.kinds import binary, composite, pointwise, unary
from catalogue.pointwise.arith import abs
from catalogue.pointwise.complex import conj
from catalogue.pointwise.exp_log import exp2
from catalogue.pointwise.rounding import floor
from catalogue.pointwise.select import where
from catalogue.samples import one, pairs
from codegen.complex_expr import div
from codegen.expr import Expr, cpp
from codegen.primitives import ComputeInFloat, is_complex, maximum, minimum, scalar
from codegen.primitives import sqrt as root

INF = float("inf")

sqrt = unary(
    "sqrt",
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=lambda a: root(a),
    complex=lambda a: c.sqrt(a),
    grad=lambda g, y: g / conj(y * 2),
    ref=np.sqrt,
    samples=one(0.1, 4),
    edges=(0.0, -0.0, INF, -INF, float("nan")),
    doc="The square root.",
)
rsqrt = unary(
    "rsqrt",
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=lambda a: 1 / root(a),
    complex=lambda a: div(1.0, c.sqrt(a)),
    grad=lambda g, y: g * conj(y * y * y) * -0.5,
    ref=lambda a: 1 / np.sqrt(a),
    samples=one(0.1, 4),
    doc="1 / sqrt(a)",
)


def _pow(a, b):
    """Exponents that programs write out have products and roots of their own."""
    if b in (2, 3):
        return a * a if b == 2 else a * a * a
    if b == 0.5:
        return c.sqrt(a) if is_complex(a) else where(a == -INF, INF, root(a))
    return 1 / a if b == -1 else 1 / (a * a)


def _pow_floating(self, exponent):
    return m.power(self, exponent) if isinstance(exponent, Expr) else _pow(self, exponent)


def _pow_integer(self, exponent):
    if isinstance(exponent, Expr):
        return scalar("ipow", self, exponent)
    if exponent == 0.5 or exponent < 0:
        raise ComputeInFloat
    return _pow(self, exponent)


def _pow_complex(self, exponent):
    return c.power(self, exponent) if isinstance(exponent, Expr) else _pow(self, exponent)


pow = pointwise(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    special={"exponent": (2, 3, 0.5, -1, -2)},
    inplace=True,
    out=True,
    operator="**",
    check="pow",
    dtypes=all_dtypes,
    kernel=_pow_floating,
    integer=_pow_integer,
    boolean=lambda self, exponent: self | ~exponent if isinstance(exponent, Expr) else self,
    complex=_pow_complex,
    grad=lambda g, self, exponent, y: (
        cpp.pow_self_backward(g, self, exponent),
        cpp.pow_exponent_backward(g, self, exponent, y),
    ),
    ref=np.power,
    samples=lambda s: [
        s(s.t(3, 5, low=0.1, high=3), s.t(3, 5)),
        s(s.t(3, 5), 2),
        s(s.t(3, 5), 3),
        s(s.t(7, low=0.1, high=3), 0.5),
        s(s.t(7), 0),
        s(2.0, s.t(7)),
        s(s.ints(7), 2),
        s(s.t(3, 1, low=0.1, high=3), s.t(5)),
    ],
    doc="self to the power of the exponent.",
)


def _float_power(overload, operands, samples, **options):
    return composite(
        f"float_power.{overload}({operands}) -> Tensor",
        kernel=f"float_power_{overload}",
        out=True,
        samples=samples,
        doc="self to the power of the exponent, in double precision.",
        **options,
    )


_float_power("Tensor_Tensor", "Tensor self, Tensor exponent", lambda s: [s(s.t(3, 5, low=0.1, high=3), s.t(3, 5))])
_float_power("Tensor_Scalar", "Tensor self, Scalar exponent", lambda s: [s(s.t(3, 5), 2), s(s.ints(4), 2)])
_float_power("Scalar", "Scalar self, Tensor exponent", lambda s: [s(2, s.t(3, 5))], variants="function")


def _ldexp(a, b):
    third = floor(b / 3)  # in three steps, since 2^b may be out of range where the product is not
    step = m.exp2(third)
    product = a * step * step * m.exp2(b - 2 * third)
    return where((a == 0) | (abs(a) == INF), a, product)  # not NaN for 0 * inf


ldexp = binary(
    "ldexp",
    overloads={"Tensor": "TT"},
    result=int_to_float,
    kernel=_ldexp,
    complex=lambda a, b: a * c.exp(b * m.LN2),
    grad=lambda g, a, b, y: (g * conj(exp2(b)), g * conj(y) * m.LN2),
    ref=lambda a, b: a * 2.0**b,
    samples=lambda s: [s(s.t(3, 5), s.ints(3, 5, low=-3, high=3)), s(s.t(7), s.t(7))],
    doc="self * 2^other",
)


def _hypot(a, b):
    def body(a, b):
        big, small = maximum(abs(a), abs(b)), minimum(abs(a), abs(b))
        ratio = small / where(big == 0, 1.0, big)
        value = big * root(ratio * ratio + 1)
        return where((abs(a) == INF) | (abs(b) == INF), INF, value)

    return m.in_double(body, a, b)


hypot = binary(
    "hypot",
    overloads={"": "TT"},
    dtypes=floating,
    kernel=_hypot,
    grad=lambda g, a, b, y: (g * (a / y), g * (b / y)),
    ref=np.hypot,
    samples=pairs(),
    doc="sqrt(a * a + b * b), safe against overflow.",
)


def _part_of_frexp(part, grad):
    return unary(
        f"_frexp_{part}",
        inplace=False,
        out=False,
        namespace="private",
        dtypes=floating,
        kernel=lambda a: scalar(f"frexp_{part}", a),
        grad=grad,
        doc=f"The {part} that frexp() gives.",
    )


frexp_exponent = _part_of_frexp("exponent", None)
frexp_mantissa = _part_of_frexp("mantissa", lambda g, a: g / exp2(frexp_exponent(a)))
frexp = composite(
    "frexp.Tensor(Tensor self) -> (Tensor, Tensor)",
    kernel="frexp_Tensor",
    out=True,
    names=("mantissa", "exponent"),
    return_type="frexp",
    samples=lambda s: [s(s.t(3, 5)), s(s.values(0.0, -0.0, 1.0, -0.75, 1e30, 1e-40))],
    doc="A mantissa from 0.5 to 1 and the int32 power of 2 that make up each number.",
)

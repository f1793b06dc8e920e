"""Powers and roots."""

import numpy as np

from catalogue import complex_math as c
from catalogue import math as m
from catalogue.dtypes import all_dtypes, floating, floating_or_complex, int_to_float
from catalogue.kinds import binary, unary
from catalogue.pointwise.arith import abs
from catalogue.pointwise.complex import conj
from catalogue.pointwise.select import where
from catalogue.samples import one, pairs
from codegen.complex_expr import div
from codegen.expr import cpp
from codegen.primitives import maximum, minimum, scalar
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


pow = binary(
    "pow",
    overloads={"Tensor_Tensor": "TT", "Tensor_Scalar": "TS", "Scalar": "ST"},
    operator="**",
    check="pow",
    dtypes=all_dtypes,
    kernel=lambda a, b: m.power(a, b),
    integer=lambda a, b: scalar("ipow", a, b),
    boolean=lambda a, b: a | ~b,
    complex=lambda a, b: c.power(a, b),
    grad=lambda g, a, b, y: (cpp.pow_self_backward(g, a, b), cpp.pow_exponent_backward(g, a, b, y)),
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
    doc="a to the power b.",
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

"""Elementary functions of complex numbers, for kernels: pairs of real expressions (codegen/complex_expr.py)."""

from __future__ import annotations

import math

from catalogue import math as m
from codegen.complex_expr import absolute, div, make, mul
from codegen.expr import Expr
from codegen.primitives import copy_sign, maximum, minimum, where
from codegen.primitives import sqrt as real_sqrt

INF = m.INF


def times_i(z: Expr) -> Expr:
    re, im = z.args
    return make(-im, re)


def over_i(z: Expr) -> Expr:
    re, im = z.args
    return make(im, -re)


def exp(z: Expr) -> Expr:
    re, im = z.args
    length = m.exp(re)
    # 0 * sin(inf) would be NaN for exp(-inf), and a zero imaginary part stays zero at exp(inf).
    return make(length * m.cos(im), where(im == 0, im, length * m.sin(im)))


def log(z: Expr) -> Expr:
    """log|z| from the larger part and the ratio, so that squares neither overflow nor vanish; near |z| = 1 by log1p."""
    re, im = z.args
    a, b = abs(re), abs(im)
    big, small = maximum(a, b), minimum(a, b)
    ratio = where(big == 0, 0.0, small / where(big == 0, 1.0, big))
    ratio = where(big == INF, 0.0, ratio)
    far = m.log(big) + m.log1p(ratio * ratio) * 0.5
    near = m.log1p((big - 1) * (big + 1) + small * small) * 0.5
    return make(where((big > 0.5) & (big < 2), near, far), m.atan2(im, re))


def sqrt(z: Expr) -> Expr:
    re, im = z.args
    length = absolute(z)
    t = real_sqrt((length + abs(re)) * 0.5)
    other = where(t == 0, abs(im), abs(im) / (t + t))
    return make(where(re < 0, other, t), copy_sign(where(re < 0, t, other), im))


def sinh(z: Expr) -> Expr:
    re, im = z.args
    return make(m.sinh(re) * m.cos(im), m.cosh(re) * m.sin(im))


def cosh(z: Expr) -> Expr:
    re, im = z.args
    return make(m.cosh(re) * m.cos(im), m.sinh(re) * m.sin(im))


def tanh(z: Expr) -> Expr:
    """(sinh(2x) + i sin(2y)) / (cosh(2x) + cos(2y)), by terms that stay finite."""
    re, im = z.args
    t = m.tan(im)
    s = m.sinh(minimum(abs(re), 40.0))
    s = copy_sign(s, re)
    beta = t * t + 1
    rho = real_sqrt(s * s + 1)
    denominator = beta * s * s + 1
    return make(
        where(abs(re) > 20, copy_sign(re * 0 + 1, re), beta * rho * s / denominator),
        where(abs(re) > 20, t * 0, t / denominator),
    )


def sin(z: Expr) -> Expr:
    return over_i(sinh(times_i(z)))


def cos(z: Expr) -> Expr:
    return cosh(times_i(z))


def tan(z: Expr) -> Expr:
    return over_i(tanh(times_i(z)))


def asinh(z: Expr) -> Expr:
    """The sign taken out, log(z + sqrt(z^2 + 1)) cancels nothing."""
    re, im = z.args
    negative = re < 0
    w = make(where(negative, -re, re), where(negative, -im, im))
    root = mul(sqrt(make(w.args[0], w.args[1] + 1)), sqrt(make(w.args[0], w.args[1] - 1)))
    value = log(make(w.args[0] + root.args[0], w.args[1] + root.args[1]))
    return make(where(negative, -value.args[0], value.args[0]), where(negative, -value.args[1], value.args[1]))


def asin(z: Expr) -> Expr:
    return over_i(asinh(times_i(z)))


def acos(z: Expr) -> Expr:
    w = asin(z)
    return make(math.pi / 2 - w.args[0], -w.args[1])


def acosh(z: Expr) -> Expr:
    re, im = z.args
    root = mul(sqrt(make(re - 1, im)), sqrt(make(re + 1, im)))
    return log(make(re + root.args[0], im + root.args[1]))


def atanh(z: Expr) -> Expr:
    re, im = z.args
    square = im * im
    below = (1 - re) * (1 - re) + square
    return make(
        m.log1p(4 * re / below) * 0.25,
        m.atan2(im + im, (1 - re) * (1 + re) - square) * 0.5,
    )


def atan(z: Expr) -> Expr:
    return over_i(atanh(times_i(z)))


def power(z: Expr, w: Expr) -> Expr:
    """exp(w log z); 0^w is 0, 1 for w = 0."""
    value = exp(mul(w, log(z)))
    zero = (z.args[0] == 0) & (z.args[1] == 0)
    one = (w.args[0] == 0) & (w.args[1] == 0)
    re = where(zero, 0.0, value.args[0])
    im = where(zero | one, 0.0, value.args[1])
    return make(where(one, 1.0, re), im)


def sigmoid(z: Expr) -> Expr:
    e = exp(make(-z.args[0], -z.args[1]))
    return div(1.0, make(e.args[0] + 1, e.args[1]))

"""Elementary functions of complex numbers, for kernels: pairs of real expressions (codegen/complex_expr.py).

At zeros, infinities and NaN they have the values of C's Annex G, as NumPy's have.
"""

from __future__ import annotations

import math

from catalogue import math as m
from codegen.complex_expr import absolute, div, make, mul
from codegen.expr import Expr
from codegen.primitives import copy_sign, maximum, minimum, where
from codegen.primitives import sqrt as real_sqrt

INF = m.INF
LARGE = 1e8  # where terms of relative size 1 / z^2 no longer count, far from where squares overflow


def infinite(x: Expr) -> Expr:
    return abs(x) == INF


def large(z: Expr) -> Expr:
    return (abs(z.args[0]) > LARGE) | (abs(z.args[1]) > LARGE)


def chosen(condition: Expr, a: Expr, b: Expr) -> Expr:
    return make(*(where(condition, x, y) for x, y in zip(a.args, b.args, strict=True)))


def one(x: Expr) -> Expr:
    """1, of x's type; NaN for NaN."""
    return where(x == x, 1.0, x)


def negative(x: Expr) -> Expr:
    """-0 is."""
    return copy_sign(one(x), x) < 0


def times_i(z: Expr) -> Expr:
    re, im = z.args
    return make(-im, re)


def over_i(z: Expr) -> Expr:
    re, im = z.args
    return make(im, -re)


def exp(z: Expr) -> Expr:
    re, im = z.args
    length, cosine, sine = m.exp(re), m.cos(im), m.sin(im)
    # exp(-inf) is 0 and exp(inf) infinite whatever the angle; a zero imaginary part stays zero at exp(inf).
    real = where(infinite(re) & (cosine != cosine), length, length * cosine)
    imaginary = where((re == -INF) & (sine != sine), length, length * sine)
    return make(real, where(im == 0, im, imaginary))


def log(z: Expr) -> Expr:
    """log|z| from the larger part and the ratio, so that squares neither overflow nor vanish; near |z| = 1 by log1p."""
    re, im = z.args
    a, b = abs(re), abs(im)
    big, small = maximum(a, b), minimum(a, b)
    ratio = where(big == 0, 0.0, small / where(big == 0, 1.0, big))
    far = m.log(big) + m.log1p(ratio * ratio) * 0.5
    far = where((a == INF) | (b == INF), INF, far)
    near = m.log1p((big - 1) * (big + 1) + small * small) * 0.5
    return make(where((big > 0.5) & (big < 2), near, far), m.atan2(im, re))


def sqrt(z: Expr) -> Expr:
    re, im = z.args
    scale = where(large(z), 0.25, one(re))  # the sum of length and part may overflow
    x, y = re * scale, abs(im) * scale
    t = real_sqrt((absolute(make(x, y)) + abs(x)) * 0.5)
    other = where(t == 0, y, y / (t + t))
    t, other = (part / real_sqrt(scale) for part in (t, other))
    t, other = (where(y == INF, INF, part) for part in (t, other))
    return make(where(re < 0, other, t), copy_sign(where(re < 0, t, other), im))


def sinh(z: Expr) -> Expr:
    re, im = z.args
    cosine, sine = m.cos(im), m.sin(im)
    real = where(((re == 0) | infinite(re)) & (cosine != cosine), re, m.sinh(re) * cosine)
    return make(real, where(im == 0, im, m.cosh(re) * sine))


def cosh(z: Expr) -> Expr:
    re, im = z.args
    cosine, sine = m.cos(im), m.sin(im)
    real = where(infinite(re) & (cosine != cosine), INF, m.cosh(re) * cosine)
    imaginary = where((re == 0) & (sine != sine), re, m.sinh(re) * sine)
    return make(real, where(im == 0, where(negative(re), -im, im), imaginary))


def tanh(z: Expr) -> Expr:
    """(sinh(2x) + i sin(2y)) / (cosh(2x) + cos(2y)), by terms that stay finite."""
    re, im = z.args
    t = m.tan(im)
    s = m.sinh(minimum(abs(re), 40.0))
    s = copy_sign(s, re)
    beta = t * t + 1
    rho = real_sqrt(s * s + 1)
    denominator = beta * s * s + 1
    far, flat = abs(re) > 20, t * 0
    real = where(far, copy_sign(where(infinite(re), 1.0, flat + 1), re), beta * rho * s / denominator)
    imaginary = where(far, where(infinite(re) & (t != t), 0.0, flat), t / denominator)
    return make(where(re == 0, re, real), where(im == 0, im, imaginary))


def sin(z: Expr) -> Expr:
    return over_i(sinh(times_i(z)))


def cos(z: Expr) -> Expr:
    return cosh(times_i(z))


def tan(z: Expr) -> Expr:
    return over_i(tanh(times_i(z)))


# The inverse functions take the roots of 1 + z and 1 - z; products of their parts cancel nothing, and the real asinh
# is exact near 0. Where z is large, they are its logarithm.


def log_of_double(z: Expr) -> Expr:
    re, im = log(z).args
    return make(re + math.log(2), im)


def asinh(z: Expr) -> Expr:
    re, im = z.args
    a, b = sqrt(make(1 + im, -re)).args, sqrt(make(1 - im, re)).args
    below = negative(re)
    far = log_of_double(make(where(below, -re, re), where(below, -im, im)))
    near = make(m.asinh(a[0] * b[1] - b[0] * a[1]), m.atan2(im, a[0] * b[0] - a[1] * b[1]))
    return chosen(large(z), make(*(where(below, -part, part) for part in far.args)), near)


def asin(z: Expr) -> Expr:
    return over_i(asinh(times_i(z)))


def acos(z: Expr) -> Expr:
    re, im = z.args
    a, b = sqrt(make(1 - re, -im)).args, sqrt(make(1 + re, im)).args
    far = log_of_double(z).args
    return chosen(
        large(z),
        make(abs(far[1]), where(negative(im), far[0], -far[0])),
        make(2 * m.atan2(a[0], b[0]), m.asinh(b[0] * a[1] - b[1] * a[0])),
    )


def acosh(z: Expr) -> Expr:
    re, im = z.args
    a, b = sqrt(make(re - 1, im)).args, sqrt(make(re + 1, im)).args
    near = make(m.asinh(a[0] * b[0] + a[1] * b[1]), 2 * m.atan2(a[1], b[0]))
    return chosen(large(z), log_of_double(z), near)


def atanh(z: Expr) -> Expr:
    below = negative(z.args[0])
    re, im = (where(below, -part, part) for part in z.args)
    square = im * im
    real = m.log1p(4 * re / ((1 - re) * (1 - re) + square)) * 0.25
    real = where((re == 1) & (abs(im) < 1e-15), m.log(abs(im) * 0.5) * -0.5, real)  # the square vanishes
    imaginary = m.atan2(im + im, (1 - re) * (1 + re) - square) * 0.5
    # Where z is large, atanh(z) is a quarter turn and 1 / z.
    far, endless = large(z), infinite(re) | infinite(im)
    x, y = (where(endless, 0.0, part) for part in div(1.0, make(re, im)).args)
    real = where(far, x, real)
    imaginary = where(far, copy_sign(where(im == im, math.pi / 2, im), im) + y, imaginary)
    return make(where(below, -real, real), where(below, -imaginary, imaginary))


def atan(z: Expr) -> Expr:
    return over_i(atanh(times_i(z)))


def power(z: Expr, w: Expr) -> Expr:
    """exp(w log z); 0^w is 0 if w has a positive real part, 1 for w = 0."""
    value = exp(mul(w, log(z)))
    zero = (z.args[0] == 0) & (z.args[1] == 0) & (w.args[0] > 0)
    one = (w.args[0] == 0) & (w.args[1] == 0)
    re = where(zero, 0.0, value.args[0])
    im = where(zero | one, 0.0, value.args[1])
    return make(where(one, 1.0, re), im)


def sigmoid(z: Expr) -> Expr:
    e = exp(make(-z.args[0], -z.args[1]))
    return div(1.0, make(e.args[0] + 1, e.args[1]))

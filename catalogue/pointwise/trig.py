"""Circular and hyperbolic functions and their inverses."""

import math

import numpy as np

from catalogue import complex_math as c
from catalogue import math as m
from catalogue.dtypes import floating, floating_or_complex, int_to_float
from catalogue.kinds import binary, unary
from catalogue.pointwise.complex import conj
from catalogue.pointwise.power import rsqrt
from catalogue.pointwise.select import where
from catalogue.samples import one, pairs

INF = float("inf")


def _function(name, kernel, ref, grad, doc, complex, *, low=-3.0, high=3.0, **options):
    return unary(
        name,
        result=int_to_float,
        dtypes=floating_or_complex,
        kernel=kernel,
        complex=lambda a: complex(a),
        grad=grad,
        ref=ref,
        samples=one(low, high),
        edges=(0.0, -0.0, INF, -INF, float("nan")),
        doc=doc,
        **options,
    )


sin = _function("sin", lambda a: m.sin(a), np.sin, lambda g, a: g * conj(cos(a)), "The sine.", c.sin)
cos = _function("cos", lambda a: m.cos(a), np.cos, lambda g, a: -g * conj(sin(a)), "The cosine.", c.cos)
tan = _function(
    "tan", lambda a: m.tan(a), np.tan, lambda g, y: g * conj(1 + y * y), "The tangent.", c.tan, low=-1.5, high=1.5
)
asin = _function(
    "asin",
    lambda a: m.asin(a),
    np.arcsin,
    lambda g, a: g * conj(rsqrt(1 - a * a)),
    "The inverse sine, in [-pi / 2, pi / 2].",
    c.asin,
    low=-0.95,
    high=0.95,
    aliases="arcsin",
)
acos = _function(
    "acos",
    lambda a: m.acos(a),
    np.arccos,
    lambda g, a: -g * conj(rsqrt(1 - a * a)),
    "The inverse cosine, in [0, pi].",
    c.acos,
    low=-0.95,
    high=0.95,
    aliases="arccos",
)
atan = _function(
    "atan",
    lambda a: m.atan(a),
    np.arctan,
    lambda g, a: g / conj(a * a + 1),
    "The inverse tangent, in [-pi / 2, pi / 2].",
    c.atan,
    aliases="arctan",
)
sinh = _function("sinh", lambda a: m.sinh(a), np.sinh, lambda g, a: g * conj(cosh(a)), "The hyperbolic sine.", c.sinh)
cosh = _function("cosh", lambda a: m.cosh(a), np.cosh, lambda g, a: g * conj(sinh(a)), "The hyperbolic cosine.", c.cosh)
tanh = _function(
    "tanh", lambda a: m.tanh(a), np.tanh, lambda g, y: g * conj(1 - y * y), "The hyperbolic tangent.", c.tanh
)
asinh = _function(
    "asinh",
    lambda a: m.asinh(a),
    np.arcsinh,
    lambda g, a: g * conj(rsqrt(a * a + 1)),
    "The inverse hyperbolic sine.",
    c.asinh,
    aliases="arcsinh",
)
acosh = _function(
    "acosh",
    lambda a: m.acosh(a),
    np.arccosh,
    lambda g, a: g * conj(rsqrt(a - 1) * rsqrt(a + 1)),
    "The inverse hyperbolic cosine.",
    c.acosh,
    low=1.1,
    high=5,
    aliases="arccosh",
)
atanh = _function(
    "atanh",
    lambda a: m.atanh(a),
    np.arctanh,
    lambda g, a: g / conj(1 - a * a),
    "The inverse hyperbolic tangent.",
    c.atanh,
    low=-0.95,
    high=0.95,
    aliases="arctanh",
)
atan2 = binary(
    "atan2",
    overloads={"": "TT"},
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a, b: m.atan2(a, b),
    grad=lambda g, a, b: (
        where((a == 0) & (b == 0), 0, g * b / (a * a + b * b)),
        where((a == 0) & (b == 0), 0, -g * a / (a * a + b * b)),
    ),
    ref=np.arctan2,
    samples=pairs(),
    aliases="arctan2",
    doc="The angle of the point (b, a).",
)


def _sinc(a):
    x = a * math.pi
    return where(a == 0, 1.0, m.sin(x) / x)


def _sinc_complex(a):
    x = a * math.pi
    return where(a == 0, 1.0, c.sin(x) / x)


sinc = unary(
    "sinc",
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=_sinc,
    complex=_sinc_complex,
    grad=lambda g, a: where(
        a == 0, 0, g * conj((cos(a * math.pi) * (a * math.pi) - sin(a * math.pi)) / (a * a * math.pi))
    ),
    ref=np.sinc,
    samples=one(),
    aliases="special.sinc",
    doc="sin(pi a) / (pi a), 1 at 0.",
)


def _scaling(name, factor, ref, doc):
    return unary(
        name,
        result=int_to_float,
        dtypes=floating,
        kernel=lambda a: a * factor,
        grad=lambda g: g * factor,
        ref=ref,
        samples=one(),
        doc=doc,
    )


deg2rad = _scaling("deg2rad", math.pi / 180, np.deg2rad, "Degrees to radians.")
rad2deg = _scaling("rad2deg", 180 / math.pi, np.rad2deg, "Radians to degrees.")

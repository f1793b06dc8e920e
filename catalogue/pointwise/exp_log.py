"""Exponentials and logarithms."""

from typing import Any

import numpy as np

from catalogue import complex_math as c
from catalogue import math as m
from catalogue.dtypes import floating, floating_or_complex, int_to_float
from catalogue.kinds import binary, unary
from catalogue.pointwise.complex import conj
from catalogue.pointwise.select import maximum, where
from catalogue.samples import one, pairs
from codegen.complex_expr import make

INF = float("inf")
_edges = (0.0, -0.0, INF, -INF, float("nan"))


def _function(name, kernel, ref, grad, doc, *, low=-3.0, high=3.0, complex=None, **options):
    """A unary function of floats; integers become floats."""
    return unary(
        name,
        result=int_to_float,
        dtypes=floating_or_complex if complex else floating,
        kernel=kernel,
        complex=complex and (lambda a: complex(a)),
        grad=grad,
        ref=ref,
        samples=one(low, high),
        edges=_edges,
        doc=doc,
        **options,
    )


exp = _function("exp", lambda a: m.exp(a), np.exp, lambda g, y: g * conj(y), "e to the power a.", complex=c.exp)
exp2 = _function(
    "exp2",
    lambda a: m.exp2(a),
    np.exp2,
    lambda g, y: g * conj(y) * m.LN2,
    "2 to the power a.",
    complex=lambda a: c.exp(a * m.LN2),
    aliases="special.exp2",
)


def _expm1_complex(a):
    """exp(x) cos(y) - 1 as expm1(x) cos(y) - 2 sin(y / 2)^2"""
    re, im = a.args
    half = m.sin(im * 0.5)
    return make(m.expm1(re) * m.cos(im) - 2 * half * half, m.exp(re) * m.sin(im))


expm1 = _function(
    "expm1",
    lambda a: m.expm1(a),
    np.expm1,
    lambda g, y: g * conj(y + 1),
    "exp(a) - 1, exact for small a.",
    complex=_expm1_complex,
    aliases="special.expm1",
)
log = _function(
    "log",
    lambda a: m.log(a),
    np.log,
    lambda g, a: g / conj(a),
    "The natural logarithm.",
    low=0.1,
    high=4,
    complex=c.log,
)
log2 = _function(
    "log2",
    lambda a: m.log2(a),
    np.log2,
    lambda g, a: g / conj(a * m.LN2),
    "The logarithm to base 2.",
    low=0.1,
    high=4,
    complex=lambda a: c.log(a) * (1 / m.LN2),
)
log10 = _function(
    "log10",
    lambda a: m.log10(a),
    np.log10,
    lambda g, a: g / conj(a * 2.302585092994046),
    "The logarithm to base 10.",
    low=0.1,
    high=4,
    complex=lambda a: c.log(a) * 0.4342944819032518,
)


def _log1p_complex(a):
    """log|1 + z| by log1p(x (2 + x) + y^2) / 2 where that does not overflow."""
    re, im = a.args
    whole = c.log(make(re + 1, im))
    near = m.log1p(re * (re + 2) + im * im) * 0.5
    return make(where((abs(re) < 1) & (abs(im) < 1), near, whole.args[0]), whole.args[1])


log1p = _function(
    "log1p",
    lambda a: m.log1p(a),
    np.log1p,
    lambda g, a: g / conj(a + 1),
    "log(1 + a), exact for small a.",
    low=-0.9,
    high=4,
    complex=_log1p_complex,
    aliases="special.log1p",
)
sigmoid = _function(
    "sigmoid",
    lambda a: m.sigmoid(a),
    lambda a: 1 / (1 + np.exp(-a)),
    lambda g, y: g * conj((1 - y) * y),
    "1 / (1 + exp(-a))",
    complex=c.sigmoid,
    aliases="special.expit",
)
logit = unary(
    "logit",
    args="float? eps=None",
    choices={"eps": (None, ...)},
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a, eps: _logit(a if eps is None else m.minimum(m.maximum(a, eps), 1 - eps)),
    grad=lambda g, a, eps: (
        where((a >= 0) & (a <= 1), g / (a * (1 - a)), float("nan"))
        if eps is None
        else where((a >= eps) & (a <= 1 - eps), g / (a * (1 - a)), 0)
    ),
    ref=lambda a, eps=None: (lambda x: np.log(x / (1 - x)))(a if eps is None else np.clip(a, eps, 1 - eps)),
    samples=lambda s: [s(s.t(3, 5, low=0.1, high=0.9)), s(s.t(7, low=0, high=1), eps=0.1)],
    aliases="special.logit",
    doc="log(a / (1 - a)), a kept within eps of 0 and 1.",
)


def _logit(a):
    return m.log(a / (1 - a))


def _logaddexp_complex(a, b):
    """The operand with the larger real part comes out of the sum."""
    first = a.args[0] >= b.args[0]
    high, low = where(first, a, b), where(first, b, a)
    return where(low.args[0] == -INF, high, high + _log1p_complex(c.exp(low - high)))


_pair: dict[str, Any] = {"overloads": {"": "TT"}, "inplace": False, "samples": pairs(-5, 5)}
logaddexp = binary(
    "logaddexp",
    kernel=lambda a, b: where((a == b) & (abs(a) == INF), a, maximum(a, b) + m.log1p(m.exp(-abs(a - b)))),
    complex=lambda a, b: _logaddexp_complex(a, b),
    dtypes=floating_or_complex,
    grad=lambda g, a, b: (g * conj(sigmoid(a - b)), g * conj(sigmoid(b - a))),
    ref=np.logaddexp,
    doc="log(exp(a) + exp(b)), safe against overflow.",
    **_pair,
)
logaddexp2 = binary(
    "logaddexp2",
    kernel=lambda a, b: where(
        (a == b) & (abs(a) == INF), a, maximum(a, b) + m.log1p(m.exp2(-abs(a - b))) * (1 / m.LN2)
    ),
    dtypes=floating,
    grad=lambda g, a, b: (g * sigmoid((a - b) * m.LN2), g * sigmoid((b - a) * m.LN2)),
    ref=np.logaddexp2,
    doc="log2(2^a + 2^b), safe against overflow.",
    **_pair,
)
xlogy = binary(
    "xlogy",
    overloads={"Tensor": "TT", "Scalar_Other": "TS", "Scalar_Self": "ST"},
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a, b: where(b != b, b, where(a == 0, 0.0, a * m.log(b))),
    grad=lambda g, a, b: (where((a == 0) & (b <= 0), 0, xlogy(g, b)), g * a / b),
    ref=lambda a, b: np.where(a == 0, 0.0, a * np.log(b)),
    samples=pairs(-3, 3, 0.1, 4),
    aliases="special.xlogy",
    doc="a * log(b), 0 where a is 0.",
)
xlog1py = binary(
    "xlog1py",
    namespace="special",
    overloads={"": "TT", "other_scalar": "TS", "self_scalar": "ST"},
    inplace=False,
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a, b: where(b != b, b, where(a == 0, 0.0, a * m.log1p(b))),
    grad=lambda g, a, b: (where((a == 0) & (b <= -1), 0, xlog1py(g, b)), g * a / (b + 1)),
    ref=lambda a, b: np.where(a == 0, 0.0, a * np.log1p(b)),
    samples=pairs(-3, 3, -0.5, 4),
    doc="a * log(1 + b), 0 where a is 0.",
)

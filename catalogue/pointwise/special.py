"""Special functions."""

import math

import numpy as np

from catalogue import math as m
from catalogue import special_math as sm
from catalogue.dtypes import floating, int_to_float, single_or_double
from catalogue.kinds import unary
from catalogue.pointwise.exp_log import exp, log
from catalogue.pointwise.select import where
from catalogue.samples import one
from codegen.expr import cpp
from codegen.primitives import scalar

INF = float("inf")
_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)
_DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)


def _function(name, kernel, grad, ref, doc, low=-3.0, high=3.0, **options):
    return unary(
        name,
        result=int_to_float,
        kernel=kernel,
        grad=grad,
        ref=ref,
        samples=one(low, high),
        edges=(0.0, INF, -INF, float("nan")),
        doc=doc,
        **{"dtypes": floating} | options,
    )


def _lgamma(x):
    """math.lgamma, which refuses the poles."""
    return INF if x in (0, -INF) else math.lgamma(x)


erf = _function(
    "erf",
    lambda a: sm.erf(a),
    lambda g, a: g * (_TWO_OVER_ROOT_PI * exp(-a * a)),
    np.vectorize(math.erf, otypes=[float]),
    "The error function.",
    aliases="special.erf",
)
erfc = _function(
    "erfc",
    lambda a: sm.erfc(a),
    lambda g, a: g * (-_TWO_OVER_ROOT_PI * exp(-a * a)),
    np.vectorize(math.erfc, otypes=[float]),
    "1 - erf(a), exact for large a.",
    aliases="special.erfc",
)
erfinv = _function(
    "erfinv",
    lambda a: sm.erfinv(a),
    lambda g, y: g * (0.5 * math.sqrt(math.pi) * exp(y * y)),
    None,
    "The inverse of erf.",
    low=-0.95,
    high=0.95,
    aliases="special.erfinv",
)
lgamma = _function(
    "lgamma",
    lambda a: sm.lgamma(a),
    lambda g, a: g * digamma(a),
    np.vectorize(_lgamma, otypes=[float]),
    "log |gamma(a)|",
    low=0.1,
    high=6,
    aliases="special.gammaln",
)
digamma = _function(
    "digamma",
    lambda a: sm.digamma(a),
    lambda g, a: g * trigamma(a),
    None,
    "The derivative of lgamma.",
    low=0.1,
    high=6,
    aliases="special.digamma, special.psi",
)
trigamma = _function(
    "trigamma",
    lambda a: scalar("trigamma", a),
    lambda g, a: cpp.polygamma_backward(g, 1, a),
    None,
    "The derivative of digamma.",
    low=0.1,
    high=6,
    namespace="private",
    inplace=False,
    out=False,
)


def _normal(name, kernel, grad, doc, low=-4.0, high=4.0, dtypes=single_or_double):
    """About the normal distribution; in torch.special alone, without an in-place form."""
    return _function(name, kernel, grad, None, doc, low, high, namespace="special", inplace=False, dtypes=dtypes)


erfcx = _normal(
    "erfcx",
    lambda a: sm.erfcx(a),
    lambda g, a, y: g * (2 * a * y - _TWO_OVER_ROOT_PI),
    "exp(a^2) erfc(a)",
)
ndtr = _normal(
    "ndtr",
    lambda a: 0.5 * sm.erfc(-_ROOT_HALF * a),
    lambda g, a: g * (exp(-0.5 * a * a) * _DENSITY_AT_0),
    "The distribution function of the standard normal distribution.",
    dtypes=floating,
)
log_ndtr = _normal(
    "log_ndtr",
    lambda a: where(
        a < -1,
        m.log(sm.erfcx(a * -_ROOT_HALF) * 0.5) - a * a * 0.5,
        m.log1p(sm.erfc(a * _ROOT_HALF) * -0.5),
    ),
    lambda g, a: g * (2 * _DENSITY_AT_0) / erfcx(a * -_ROOT_HALF),
    "log(ndtr(a)), exact far out.",
)
ndtri = _normal(
    "ndtri",
    lambda a: sm.ndtri(a),
    lambda g, y: g * (exp(0.5 * y * y) * (1 / _DENSITY_AT_0)),
    "The inverse of ndtr.",
    0.01,
    0.99,
)
entr = unary(
    "entr",
    namespace="special",
    inplace=False,
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a: where(a != a, a, where(a > 0, -a * m.log(a), where(a == 0, a * 0, -INF))),
    grad=lambda g, a: g * -(1 + log(a)),
    samples=one(0.1, 3),
    doc="-a log(a), 0 at 0, -inf below.",
)

"""Special functions."""

import math

import numpy as np

from catalogue import math as m
from catalogue.dtypes import floating, int_to_float
from catalogue.kinds import unary
from catalogue.pointwise.exp_log import exp
from catalogue.pointwise.select import where
from catalogue.samples import one
from codegen.primitives import scalar

INF = float("inf")
_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _function(name, kernel, grad, ref, doc, low=-3.0, high=3.0, **options):
    return unary(
        name,
        result=int_to_float,
        dtypes=floating,
        kernel=kernel,
        grad=grad,
        ref=ref,
        samples=one(low, high),
        edges=(0.0, INF, -INF, float("nan")),
        doc=doc,
        **options,
    )


def _lgamma(x):
    """math.lgamma, which refuses the poles."""
    return INF if x in (0, -INF) else math.lgamma(x)


erf = _function(
    "erf",
    lambda a: m.erf(a),
    lambda g, a: g * (_TWO_OVER_ROOT_PI * exp(-a * a)),
    np.vectorize(math.erf, otypes=[float]),
    "The error function.",
    aliases="special.erf",
)
erfc = _function(
    "erfc",
    lambda a: m.erfc(a),
    lambda g, a: g * (-_TWO_OVER_ROOT_PI * exp(-a * a)),
    np.vectorize(math.erfc, otypes=[float]),
    "1 - erf(a), exact for large a.",
    aliases="special.erfc",
)
erfinv = _function(
    "erfinv",
    lambda a: scalar("erfinv", a),
    lambda g, y: g * (0.5 * math.sqrt(math.pi) * exp(y * y)),
    None,
    "The inverse of erf.",
    low=-0.95,
    high=0.95,
    aliases="special.erfinv",
)
lgamma = _function(
    "lgamma",
    lambda a: scalar("lgamma", a),
    lambda g, a: g * digamma(a),
    np.vectorize(_lgamma, otypes=[float]),
    "log |gamma(a)|",
    low=0.1,
    high=6,
    aliases="special.gammaln",
)
digamma = _function(
    "digamma",
    lambda a: scalar("digamma", a),
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
    None,
    None,
    "The derivative of digamma.",
    low=0.1,
    high=6,
    namespace="private",
    inplace=False,
    out=False,
)
entr = unary(
    "entr",
    namespace="special",
    inplace=False,
    result=int_to_float,
    dtypes=floating,
    kernel=lambda a: where(a != a, a, where(a > 0, -a * m.log(a), where(a == 0, a * 0, -INF))),
    samples=one(0.1, 3),
    doc="-a log(a), 0 at 0, -inf below.",
)

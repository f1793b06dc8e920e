"""kl_divergence(p, q), by the pair's classes. Most pairs of one-dimensional families need no formula of their own:
KL(p || q) = -entropy of p - E_p[log q], and log q of the usual families is made of E_p[x], E_p[x^2] and E_p[log x].
"""

import math
import warnings

import vivace
from vivace.distributions.bernoulli import Bernoulli
from vivace.distributions.beta import Beta
from vivace.distributions.binomial import Binomial
from vivace.distributions.categorical import Categorical
from vivace.distributions.cauchy import Cauchy
from vivace.distributions.continuous_bernoulli import ContinuousBernoulli
from vivace.distributions.dirichlet import Dirichlet
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.exponential import Exponential
from vivace.distributions.gamma import Gamma
from vivace.distributions.geometric import Geometric
from vivace.distributions.gumbel import Gumbel
from vivace.distributions.half_normal import HalfNormal
from vivace.distributions.independent import Independent
from vivace.distributions.laplace import Laplace
from vivace.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _lowrank_logdet,
    _lowrank_mahalanobis,
)
from vivace.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from vivace.distributions.normal import Normal
from vivace.distributions.one_hot_categorical import OneHotCategorical
from vivace.distributions.pareto import Pareto
from vivace.distributions.poisson import Poisson
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.uniform import Uniform
from vivace.distributions.utils import _sum_rightmost, euler_constant
from vivace.distributions.wishart import Wishart, mvdigamma

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY = {}  # (class of p, class of q) to function
_found = {}  # what look-ups have found, by the exact classes


def register_kl(type_p, type_q):
    """A decorator for the function that kl_divergence calls for instances of these classes."""
    for kind in (type_p, type_q):
        if not isinstance(kind, type):  # of another base too: packages have their own
            raise TypeError(f"Expected a Distribution subclass but got {kind}")

    def decorator(function):
        _KL_REGISTRY[type_p, type_q] = function
        _found.clear()
        return function

    return decorator


def _lookup(type_p, type_q):
    """The function of the nearest classes; a warning if p's and q's classes lead to different ones."""
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return None
    near_p, near_q = type_p.__mro__.index, type_q.__mro__.index
    by_p = min(matches, key=lambda pair: (near_p(pair[0]), near_q(pair[1])))
    by_q = min(matches, key=lambda pair: (near_q(pair[1]), near_p(pair[0])))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        names = [f"kl_{p.__name__}_{q.__name__}" for p, q in (by_p, by_q)]
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__}); {names[0]} is taken, not {names[1]}",
            RuntimeWarning,
            stacklevel=4,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p, q):
    """E_p[log p - log q]."""
    key = type(p), type(q)
    function = _found.get(key)
    if function is None:
        function = _lookup(*key)
        if function is None:
            raise NotImplementedError(
                f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
            )
        _found[key] = function
    return function(p, q)


# ---- pairs that follow from p's moments

_FAMILIES = (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal, Pareto, Uniform)

_MEAN_LOG = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -euler_constant - p.rate.log(),
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_log_between(p.low, p.high),
}


def _mean_log_between(low, high):
    return (vivace.xlogy(high, high) - vivace.xlogy(low, low)) / (high - low) - 1


# -E_p[log q] by q's class

_CROSS = {
    Exponential: lambda p, q: q.rate * p.mean - q.rate.log(),
    Gamma: lambda p, q: (
        q.concentration.lgamma()
        - q.concentration * q.rate.log()
        - (q.concentration - 1) * _MEAN_LOG[_family(p)](p)
        + q.rate * p.mean
    ),
    Normal: lambda p, q: (
        0.5 * (2 * math.pi * q.scale.pow(2)).log() + (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.scale.pow(2))
    ),
    ContinuousBernoulli: lambda p, q: -(p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()),
    Uniform: lambda p, q: (q.high - q.low).log() + vivace.zeros_like(p.mean),
    Gumbel: lambda p, q: (
        q.scale.log() + (p.mean - q.loc) / q.scale + (q.loc / q.scale).exp() * _MEAN_EXP[_family(p)](p, q.scale)
    ),
    Laplace: lambda p, q: (2 * q.scale).log() + _mean_distance(p, q.loc) / q.scale,
    Pareto: lambda p, q: (q.alpha + 1) * _MEAN_LOG[_family(p)](p) - q.alpha.log() - q.alpha * q.scale.log(),
    Beta: lambda p, q: (
        q.concentration1.lgamma()
        + q.concentration0.lgamma()
        - (q.concentration1 + q.concentration0).lgamma()
        - (q.concentration1 - 1) * _mean_log_between(p.low, p.high)
        - (q.concentration0 - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    ),
}

# E_p[exp(-x / scale)]
_MEAN_EXP = {
    Exponential: lambda p, scale: 1 / (1 + 1 / (p.rate * scale)),
    Gamma: lambda p, scale: (1 + 1 / (p.rate * scale)).pow(-p.concentration),
    Normal: lambda p, scale: (-p.loc / scale + 0.5 * (p.scale / scale).pow(2)).exp(),
    Uniform: lambda p, scale: scale * ((-p.low / scale).exp() - (-p.high / scale).exp()) / (p.high - p.low),
}


def _mean_distance(p, center):
    """E|x - center| of a normal."""
    d = p.loc - center
    z = d / (p.scale * math.sqrt(2))
    return p.scale * math.sqrt(2 / math.pi) * (-z.pow(2)).exp() + d * vivace.erf(z)


def _family(p):
    return next(kind for kind in type(p).__mro__ if kind in _FAMILIES)


def _by_moments(cross, outside=None):
    """The divergence from p's entropy and q's cross term; infinite where p reaches beyond q."""

    def kl(p, q):
        result = cross(p, q) - p.entropy()
        return result if outside is None else result.masked_fill(outside(p, q), math.inf)

    return kl


def _infinite(p, q):
    """For a q that lacks values which p has."""
    return vivace.full_like(p.mean, math.inf)


def _beyond_uniform(low, high):
    return lambda p, q: (q.low > low(p)) | (q.high < high(p))


_MOMENT_PAIRS = {
    Beta: {Exponential: None, Gamma: None, Normal: None, ContinuousBernoulli: None},
    ContinuousBernoulli: {Exponential: None, Normal: None},
    Exponential: {Gamma: None, Gumbel: None, Normal: None},
    Gamma: {Exponential: None, Gumbel: None, Normal: None},
    Gumbel: {Normal: None},
    Laplace: {Normal: None},
    Normal: {Gumbel: None, Laplace: None},
    Pareto: {Exponential: None, Gamma: None, Normal: None},
    Uniform: {
        Exponential: lambda p, q: p.low < 0,
        Gamma: lambda p, q: p.low < 0,
        Gumbel: None,
        Normal: None,
        Beta: lambda p, q: (p.low < 0) | (p.high > 1),
        ContinuousBernoulli: lambda p, q: (p.low < 0) | (p.high > 1),
        Pareto: lambda p, q: p.low < q.scale,
    },
}
for _p, _pairs in _MOMENT_PAIRS.items():
    for _q, _outside in _pairs.items():
        register_kl(_p, _q)(_by_moments(_CROSS[_q], _outside))
for _p in (Beta, ContinuousBernoulli):
    _outside = _beyond_uniform(lambda p: 0, lambda p: 1)
    register_kl(_p, Uniform)(_by_moments(_CROSS[Uniform], _outside))

_BEYOND = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
for _p, _wider in _BEYOND.items():
    for _q in _wider:
        register_kl(_p, _q)(_infinite)


# ---- pairs of one family


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    nn = vivace.nn.functional
    yes = p.probs * (nn.softplus(-q.logits) - nn.softplus(-p.logits))
    yes = yes.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    no = (1 - p.probs) * (nn.softplus(q.logits) - nn.softplus(p.logits))
    no = no.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)
    return yes + no


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    norms = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - a.sum(-1, True).digamma())).sum(-1)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return kl.masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = t.masked_fill((q.probs == 0).expand_as(t), math.inf).masked_fill((p.probs == 0).expand_as(t), 0)
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    own = p.mean * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return own + p._cont_bern_log_norm() - q._cont_bern_log_norm()


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (
        q.concentration * (p.rate / q.rate).log()
        + q.concentration.lgamma()
        - p.concentration.lgamma()
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Wishart, Wishart)
def _wishart(p, q):
    n = p.event_shape[-1]
    inner = vivace.cholesky_solve(p.covariance_matrix, q._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
    return (
        q.df * (q._half_log_det_twice_covariance() - p._half_log_det_twice_covariance())
        + p.df * (inner - n) / 2
        + vivace.mvlgamma(q.df / 2, n)
        - vivace.mvlgamma(p.df / 2, n)
        + (p.df - q.df) / 2 * mvdigamma(p.df / 2, n)
    )


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio = p.scale / q.scale
    shift = (q.loc - p.loc) / q.scale
    return -ratio.log() - shift + ratio * euler_constant + (shift + (1 + ratio).lgamma()).exp() - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


# ---- vectors


def _covariance_factors(p):
    """Tensors F with covariance sum of F F^T."""
    if isinstance(p, LowRankMultivariateNormal):
        return p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()
    return (p._unbroadcasted_scale_tril,)


def _log_det(p):
    if isinstance(p, LowRankMultivariateNormal):
        return _lowrank_logdet(p._unbroadcasted_cov_diag, p._capacitance_tril)
    return 2 * p._half_log_det()


def _distance(q, x):
    """x^T covariance^-1 x; x has vectors along its last dimension."""
    if isinstance(q, LowRankMultivariateNormal):
        factor, diag = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
        return _lowrank_mahalanobis(factor, diag, x, q._capacitance_tril)
    return _batch_mahalanobis(q._unbroadcasted_scale_tril, x)


def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {type(p).__name__} with different event shapes cannot be computed")
    # The trace of q's precision times p's covariance is the sum of distances of the factors' columns.
    trace = sum(_distance_of_columns(q, f) for f in _covariance_factors(p))
    return 0.5 * (_log_det(q) - _log_det(p) + trace + _distance(q, q.loc - p.loc) - p.event_shape[0])


def _distance_of_columns(q, matrix):
    return sum(_distance(q, column) for column in matrix.unbind(-1))


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_multivariate_normal)


# ---- distributions made of distributions


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    p_natural = [n.detach().requires_grad_() for n in p._natural_params]
    q_natural = q._natural_params
    p_norm = p._log_normalizer(*p_natural)
    slopes = vivace.autograd.grad(p_norm.sum(), p_natural, create_graph=True)
    result = q._log_normalizer(*q_natural) - p_norm
    for of_p, of_q, slope in zip(p_natural, q_natural, slopes, strict=True):
        result = result - _sum_rightmost((of_q - of_p) * slope, len(q.event_shape))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)

"""LowRankMultivariateNormal(loc, cov_factor, cov_diag)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution
from vivace.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from vivace.distributions.utils import _standard_normal


def _capacitance_tril(factor, diag):
    """The Cholesky factor of I + W^T D^-1 W."""
    capacitance = factor.mT / diag.unsqueeze(-2) @ factor
    eye = vivace.eye(factor.size(-1), dtype=factor.dtype, device=factor.device)
    return vivace.linalg.cholesky(capacitance + eye)


def _lowrank_logdet(diag, capacitance_tril):
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + diag.log().sum(-1)


def _lowrank_mahalanobis(factor, diag, x, capacitance_tril):
    """x^T (W W^T + D)^-1 x, by the Woodbury identity."""
    projected = _batch_mv(factor.mT / diag.unsqueeze(-2), x)
    return (x.pow(2) / diag).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Distribution):
    """Gaussian vectors with covariance cov_factor @ cov_factor.T + diag(cov_diag)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        batch_shape = vivace.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def _full(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @property
    def scale_tril(self):
        return vivace.linalg.cholesky(self.covariance_matrix)

    @property
    def covariance_matrix(self):
        factor = self._unbroadcasted_cov_factor
        return self._full(factor @ factor.mT + vivace.diag_embed(self._unbroadcasted_cov_diag))

    @property
    def precision_matrix(self):
        diag = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diag.unsqueeze(-2)
        a = vivace.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._full(vivace.diag_embed(diag.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        factor = self._unbroadcasted_cov_factor
        low = _standard_normal(shape[:-1] + factor.shape[-1:], self.loc.dtype, self.loc.device)
        own = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(factor, low) + self._unbroadcasted_cov_diag.sqrt() * own

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        distance = _lowrank_mahalanobis(factor, diag, value - self.loc, self._capacitance_tril)
        log_det = _lowrank_logdet(diag, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self):
        log_det = _lowrank_logdet(self._unbroadcasted_cov_diag, self._capacitance_tril)
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)).expand(self._batch_shape)

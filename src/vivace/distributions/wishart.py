"""Wishart(df, and one of covariance_matrix, precision_matrix, scale_tril)."""

import math
import warnings
from numbers import Number

import vivace
from vivace.distributions import constraints
from vivace.distributions.chi2 import Chi2
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.multivariate_normal import _precision_to_scale_tril
from vivace.distributions.utils import lazy_property


def mvdigamma(x, p):
    """The derivative of mvlgamma."""
    return vivace.digamma(x.unsqueeze(-1) - vivace.arange(p, dtype=x.dtype, device=x.device) / 2).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of outer products of `df` Gaussian vectors: positive definite matrices of mean df * covariance_matrix."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = dict(covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix)
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            df = vivace.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape, event_shape = vivace.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        if self.df.lt(event_shape[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        setattr(self, name, matrix.expand(batch_shape + event_shape))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = vivace.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        steps = vivace.arange(event_shape[-1], dtype=matrix.dtype, device=matrix.device)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - steps)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._dist_chi2 = self._dist_chi2.expand(new._batch_shape + self._event_shape[-1:])
        return new

    def _full(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return self._full(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._full(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        return self._full(vivace.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self._event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett(self, sample_shape):
        """Triangular factors: roots of chi-squared numbers on the diagonal, normal ones below."""
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        factor = roots.clamp(min=vivace.finfo(roots.dtype).eps).diag_embed()
        rows, columns = vivace.tril_indices(*self._event_shape, offset=-1)
        shape = self._dist_chi2._extended_shape(sample_shape)[:-1] + (len(rows),)
        factor[..., rows, columns] = vivace.randn(shape, dtype=factor.dtype, device=factor.device)
        factor = self._unbroadcasted_scale_tril @ factor
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=10):
        """Draws again, max_try_correction times at most, where rounding made a matrix singular."""
        sample = self._bartlett(sample_shape)
        singular = ~self.support.check(sample)
        for _ in range(max_try_correction):
            if not singular.any():
                return sample
            sample = vivace.where(singular[..., None, None], self._bartlett(sample_shape), sample)
            singular = ~self.support.check(sample)
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        return sample

    def _half_log_det_twice_covariance(self):
        diagonal = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1)
        return self._event_shape[-1] * math.log(2) / 2 + diagonal.log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._event_shape[-1]
        inner = vivace.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1)
        return (
            -self.df * self._half_log_det_twice_covariance()
            - vivace.mvlgamma(self.df / 2, p)
            + (self.df - p - 1) / 2 * vivace.linalg.slogdet(value).logabsdet
            - inner.sum(-1) / 2
        )

    def entropy(self):
        p = self._event_shape[-1]
        return (
            (p + 1) * self._half_log_det_twice_covariance()
            + vivace.mvlgamma(self.df / 2, p)
            - (self.df - p - 1) / 2 * mvdigamma(self.df / 2, p)
            + self.df * p / 2
        )

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (p * math.log(2) - vivace.linalg.slogdet(-2 * x).logabsdet) + vivace.mvlgamma(half, p)

"""MultivariateNormal(loc, and one of covariance_matrix, precision_matrix, scale_tril)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import _standard_normal, lazy_property


def _batch_mv(matrix, vector):
    return vivace.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(lower, x):
    """|lower^-1 x|^2 for triangular matrices."""
    return vivace.linalg.solve_triangular(lower, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _precision_to_scale_tril(precision):
    """The lower Cholesky factor of the inverse: by the factor of the matrix read backwards."""
    backwards = vivace.linalg.cholesky(vivace.flip(precision, (-2, -1)))
    inverse = vivace.flip(backwards, (-2, -1)).mT
    identity = vivace.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return vivace.linalg.solve_triangular(inverse, identity.expand_as(inverse), upper=False)


class MultivariateNormal(Distribution):
    """Gaussian vectors of mean `loc`, given by covariance, precision, or the covariance's Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = dict(covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix)
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = vivace.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + matrix.shape[-2:]))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = vivace.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def _full(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

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
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape)

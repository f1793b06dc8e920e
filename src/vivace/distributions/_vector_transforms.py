"""Transforms of whole vectors and matrices: simplex, triangles, correlation; see vivace.distributions.transforms."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions._transform import Transform
from vivace.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from vivace.nn.functional import logsigmoid, pad, softplus


class CorrCholeskyTransform(Transform):
    """From n (n - 1) / 2 free numbers to the Cholesky factor of an n x n correlation matrix."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        x = vivace.tanh(x)
        eps = vivace.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        # Each row's remaining length, of which the next entry takes the part r.
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + vivace.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - vivace.cumsum(y * y, dim=-1)
        shifted = tril_matrix_to_vec(pad(left[..., :-1], [1, 0], value=1), diag=-1)
        t = tril_matrix_to_vec(y, diag=-1) / shifted.sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        return 0.5 * left.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape):
        n = _square_size(shape)
        return shape[:-2] + (n * (n - 1) // 2,)


def _square_size(shape):
    if len(shape) < 2:
        raise ValueError("Too few dimensions on input")
    if shape[-2] != shape[-1]:
        raise ValueError("Input is not square")
    return shape[-1]


class SoftmaxTransform(Transform):
    """y = softmax(x) over the last dimension; not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return vivace.softmax(x, -1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """From n free numbers to a point of the simplex of n + 1 parts, each taking a share of what is left."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    def _offset(self, n, like):
        return vivace.arange(n, 0, -1, dtype=like.dtype, device=like.device).log()

    def _call(self, x):
        share = vivace.sigmoid(x - self._offset(x.shape[-1], x))
        left = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y):
        cut = y[..., :-1]
        left = (1 - cut.cumsum(-1)).clamp(min=vivace.finfo(y.dtype).tiny)
        return cut.log() - left.log() + self._offset(cut.shape[-1], y)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._offset(x.shape[-1], x)
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(Transform):
    """A lower triangle whose diagonal is made positive."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """A positive definite matrix from its Cholesky factor made free."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(vivace.linalg.cholesky(y))

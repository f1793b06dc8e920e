"""Ready-made parametrizations: weight normalization, spectral normalization and orthogonal matrices."""

import vivace

from .. import functional as F
from ..modules.module import Module
from . import parametrize
from .spectral_norm import output_dim
from .weight_norm import norm_except_dim, weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Trains the length (`original0`) and the direction (`original1`) of a weight apart (Salimans and Kingma, 2016)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, *args):
        # Checkpoints of torch.nn.utils.weight_norm name them NAME_g and NAME_v.
        for i, part in enumerate("gv"):
            if (old := f"{prefix}{name}_{part}") in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight):
        return weight.movedim(self.dim, 0).flatten(1)

    @vivace.no_grad()
    def _power_method(self, matrix, iterations):
        for _ in range(iterations):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # backward needs them as they are now
        return weight / vivace.vdot(u, matrix.mv(v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Keeps the largest singular value of a weight near 1 (Miyato et al., 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, vivace.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    norm = _SpectralNorm(weight, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return parametrize.register_parametrization(module, name, norm)


def _orthogonalized(matrix):
    """The orthogonal factor of a QR decomposition whose R has a positive diagonal."""
    reflectors, tau = vivace.geqrf(matrix)
    signs = reflectors.diagonal(dim1=-2, dim2=-1).sgn()
    return vivace.linalg.householder_product(reflectors, tau) * signs.unsqueeze(-2)


def _is_orthogonal(matrix):
    n, k = matrix.shape[-2:]
    eye = vivace.eye(k, dtype=matrix.dtype, device=matrix.device)
    return vivace.allclose(matrix.mH @ matrix, eye, atol=10 * n * vivace.finfo(matrix.dtype).eps)


class _Orthogonal(Module):
    """Orthogonal columns (or rows, of a wide matrix) from any matrix X, of which the lower triangle counts.

    With a base, X says how far the result has turned away from it (Lezcano-Casado, 2019), so any orthogonal matrix can
    be assigned: it becomes the base, and X the matrix that turns nothing.
    """

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        result = self._reflected(X) if self.orthogonal_map == "householder" else self._turned(X)
        if hasattr(self, "base"):
            result = self.base @ result
        return result.mT if wide else result

    def _turned(self, X):
        n, k = X.shape[-2:]
        lower = F.pad(X.tril(), (0, n - k))
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            return vivace.matrix_exp(skew)[..., :k]
        eye = vivace.eye(n, dtype=X.dtype, device=X.device)
        return vivace.linalg.solve(eye - 0.5 * skew, eye + 0.5 * skew)[..., :k]

    def _reflected(self, X):
        lower = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (lower * lower).sum(dim=-2))
        signs = X.diagonal(dim1=-2, dim2=-1).int()
        return vivace.linalg.householder_product(lower, tau) * signs.unsqueeze(-2)

    @vivace.no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        tall = Q.mT if Q.size(-2) < Q.size(-1) else Q
        n, k = tall.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            reflectors, tau = vivace.geqrf(tall)
            diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1  # a reflector that does nothing stands for one that changes the sign
            return reflectors.mT if tall is not Q else reflectors
        if n != k:  # the base is square: what is missing is drawn
            self.base = _orthogonalized(vivace.cat([tall, tall.new_empty(*tall.shape[:-1], n - k).normal_()], dim=-1))
        else:
            self.base = tall.clone() if _is_orthogonal(tall) else _orthogonalized(tall)
        nothing = vivace.zeros_like(Q)
        nothing.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return nothing


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keeps a matrix (or a batch of them) orthogonal, by "matrix_exp", "cayley" or "householder"."""
    weight = getattr(module, name, None)
    if not isinstance(weight, vivace.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    return parametrize.register_parametrization(
        module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True
    )

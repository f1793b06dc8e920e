"""What several distributions share: broadcasting of parameters, probabilities and logits, lazy attributes."""

import functools
from numbers import Number

import vivace
from vivace import is_tensor

euler_constant = 0.57721566490153286060

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values):
    """Tensors of one shape; numbers become tensors of the first tensor's dtype."""
    if not all(is_tensor(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if is_tensor(v)), None)
    options = dict(dtype=vivace.get_default_dtype()) if first is None else dict(dtype=first.dtype, device=first.device)
    return vivace.broadcast_tensors(*[v if is_tensor(v) else vivace.tensor(v, **options) for v in values])


def shape_of(value):
    """The sizes of a tensor; a number has none."""
    return value.shape if is_tensor(value) else vivace.Size()


def _standard_normal(shape, dtype, device):
    return vivace.normal(
        vivace.zeros(shape, dtype=dtype, device=device), vivace.ones(shape, dtype=dtype, device=device)
    )


def _sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[: value.dim() - dim] + (-1,)).sum(-1)


def logits_to_probs(logits, is_binary=False):
    return vivace.sigmoid(logits) if is_binary else vivace.softmax(logits, dim=-1)


def clamp_probs(probs):
    """Keeps probabilities so far from 0 and 1 that their logits are finite."""
    eps = vivace.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    clamped = clamp_probs(probs)
    return vivace.log(clamped) - vivace.log1p(-clamped) if is_binary else vivace.log(clamped)


def exactly_one(**given):
    """The name of the one argument that is not None."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(
            f"Either {' or '.join(f'`{n}`' for n in given)} must be specified, but not both."
            if len(given) == 2
            else f"Exactly one of {' or '.join(given)} may be specified."
        )
    return names[0]


class lazy_property:
    """An attribute that is computed at the first read and kept on the instance."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with vivace.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def vec_to_tril_matrix(vec, diag=0):
    """A square matrix with the vector's entries, row by row, on and below a diagonal (batched)."""
    count = vec.shape[-1]
    n = round((-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2)
    rows, columns = vivace.tril_indices(n, n, diag, device=vec.device)
    if len(rows) != count:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangle")
    matrix = vec.new_zeros(vec.shape[:-1] + (n, n))
    matrix[..., rows, columns] = vec
    return matrix


def tril_matrix_to_vec(mat, diag=0):
    """The entries on and below a diagonal, row by row (batched)."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = vivace.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]

"""torch.sparse: tensors in coordinate format, most of whose elements are zero and not stored.

They are written in Python over dense operators, whose gradients they have; `_coo.py` says what they are.
"""

import vivace
from vivace import _C
from vivace.sparse import _algebra
from vivace.sparse._coo import SparseTensor, sparse_coo_tensor

__all__ = ["addmm", "log_softmax", "mm", "softmax", "sum"]


def mm(mat1, mat2):
    """The product of two matrices, at least one of them sparse: sparse if both are."""
    if not (mat1.is_sparse or mat2.is_sparse):
        return vivace.mm(mat1, mat2)
    if mat1.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError(f"sparse.mm: expected two matrices, but got {mat1.dim()}D and {mat2.dim()}D tensors")
    return _algebra.product(mat1, mat2)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2)."""
    return mat * beta + mm(mat1, mat2) * alpha


def sum(input, dim=None, dtype=None):
    """The sum over some dims, sparse while there are sparse dims left; over all: a dense scalar."""
    return (input if dtype is None else input.to(dtype)).sum(dim)


def softmax(input, dim, *, dtype=None):
    """Softmax along a sparse dim, in which elements that are not stored are minus infinity."""
    return _algebra.softmax(input if dtype is None else input.to(dtype), dim, log=False)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax."""
    return _algebra.softmax(input if dtype is None else input.to(dtype), dim, log=True)


class _OldClass(type):
    """Of classes like torch.sparse.FloatTensor: an instance is any sparse tensor of the dtype."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, SparseTensor) and instance.dtype is cls.dtype

    def __call__(cls, *args, **kwargs):
        if not args or isinstance(args[0], int):
            args = (args,)
        return sparse_coo_tensor(*args, dtype=cls.dtype, **kwargs)


for _name, _dtype in {
    "FloatTensor": _C.float32,
    "DoubleTensor": _C.float64,
    "HalfTensor": _C.float16,
    "BFloat16Tensor": _C.bfloat16,
    "LongTensor": _C.int64,
    "IntTensor": _C.int32,
    "ShortTensor": _C.int16,
    "CharTensor": _C.int8,
    "ByteTensor": _C.uint8,
}.items():
    globals()[_name] = _OldClass(_name, (), {"dtype": _dtype, "__module__": "torch.sparse"})

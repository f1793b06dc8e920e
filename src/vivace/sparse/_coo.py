"""The class of tensors in coordinate format: `indices`, a column for each stored element, and `values`.

As a Tensor it is one on the meta device, which knows its sizes and dtype, so no operator can read memory that isn't
there. Operators that sparse tensors have are methods here; `__torch_function__` refuses the others.
"""

import vivace
from vivace import _C, _utils
from vivace.sparse import _algebra

_METADATA = {
    "__len__",
    "dim",
    "element_size",
    "is_complex",
    "is_floating_point",
    "is_signed",
    "ndimension",
    "nelement",
    "numel",
    "size",
}
_DENSE_FIRST = {"add", "matmul", "mm", "mul", "multiply", "spmm", "sub", "subtract"}


def _of_values(name):
    """A method that changes the stored elements only: zero stays zero."""

    def method(self, *args, **kwargs):
        source = self if name in _LINEAR else self.coalesce()
        return source._with_values(getattr(source._v, name)(*args, **kwargs))

    method.__name__ = name
    return method


_LINEAR = {"bfloat16", "clone", "conj", "cpu", "detach", "double", "float", "half", "neg"}
_UNARY = {
    "abs",
    "asin",
    "atan",
    "bool",
    "byte",
    "ceil",
    "expm1",
    "floor",
    "int",
    "long",
    "log1p",
    "pow",
    "relu",
    "round",
    "short",
    "sign",
    "sin",
    "sinh",
    "sqrt",
}
_UNARY |= {"square", "tan", "tanh", "trunc"}


class SparseTensor(_C.Tensor):
    """See torch.sparse_coo_tensor, which makes them."""

    is_sparse = True
    is_cpu = True
    is_meta = False
    layout = vivace.sparse_coo

    @staticmethod
    def _make(indices, values, size, coalesced=False):
        layout = vivace.empty(tuple(size), dtype=values.dtype, device="meta")
        self = _C.Tensor._make_subclass(SparseTensor, layout)
        self._i = indices
        self._v = values
        self._coalesced = coalesced or indices.size(1) < 2
        return self

    def _with_values(self, values):
        return SparseTensor._make(self._i, values, self.shape, self._coalesced)

    # ---- what it is made of

    def indices(self):
        self._check_coalesced("indices")
        return self._i

    def values(self):
        self._check_coalesced("values")
        return self._v

    def _check_coalesced(self, what):
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def _indices(self):
        return self._i

    def _values(self):
        return self._v

    def _nnz(self):
        return self._i.size(1)

    def sparse_dim(self):
        return self._i.size(0)

    def dense_dim(self):
        return self._v.dim() - 1

    def is_coalesced(self):
        return self._coalesced

    def _coalesced_(self, coalesced):
        """Says that the indices are in order and each there once, or that they may not be."""
        self._coalesced = coalesced
        return self

    def coalesce(self):
        return self if self._coalesced else _algebra.coalesce(self)

    def to_dense(self, dtype=None, *, masked_grad=None):
        values = self._v if dtype is None else self._v.to(dtype)
        return _algebra.scatter(self._i, values, self.shape)

    def to_sparse(self, sparse_dim=None, **layout):
        if sparse_dim not in (None, self.sparse_dim()) or layout:
            raise NotImplementedError("to_sparse(): a sparse tensor keeps its layout and its sparse dims")
        return self

    # ---- what it is to autograd, and where it is: what its values are

    device = property(lambda self: self._v.device)
    grad_fn = property(lambda self: self._v.grad_fn)
    is_leaf = property(lambda self: self._v.is_leaf)
    grad = property(lambda self: None if self._v._grad is None else self._with_values(self._v._grad))
    requires_grad = property(lambda self: self._v.requires_grad, lambda self, on: self.requires_grad_(on))

    def requires_grad_(self, requires_grad=True):
        self._v.requires_grad_(requires_grad)
        return self

    def to(self, *args, **kwargs):
        return self._with_values(self._v.to(*args, **kwargs))

    def type(self, dtype=None):
        return "torch.sparse." + self._v.type()[len("torch.") :] if dtype is None else self.to(dtype)

    # ---- operators

    def permute(self, *dims):
        dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
        if sorted(dim % self.dim() for dim in dims) != list(range(self.dim())):
            raise RuntimeError(f"permute: {list(dims)} is no order of the {self.dim()} dims")
        return _algebra.permute(self, [dim % self.dim() for dim in dims])

    def transpose(self, dim0, dim1):
        order = list(range(self.dim()))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return _algebra.permute(self, order)

    def t(self):
        if self.dim() > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
        return self if self.dim() < 2 else self.transpose(0, 1)

    def adjoint(self):
        return self.transpose(-2, -1).conj()

    def _hermitian(self):
        if self.dim() != 2:
            raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor.")
        return self.adjoint()

    T = property(lambda self: self.permute(*reversed(range(self.dim()))))
    mT = property(lambda self: self.transpose(-2, -1))
    H = property(_hermitian)
    mH = property(adjoint)
    data = property(lambda self: self.detach())
    real = property(lambda self: self._with_values(self._v.real) if self.is_complex() else self)
    imag = property(lambda self: self._with_values(self._v.imag))

    @property
    def nbytes(self):
        raise RuntimeError("nbytes is not defined for sparse tensors: add that of indices() and values()")

    def unsqueeze(self, dim):
        return _algebra.unsqueeze(self, dim)

    def add(self, other, *, alpha=1):
        return _algebra.add(self, other * alpha if alpha != 1 else other)

    def sub(self, other, *, alpha=1):
        return _algebra.add(self, other * -alpha)

    def mul(self, other):
        return _algebra.multiply(self, other)

    def div(self, other, *, rounding_mode=None):
        return self.coalesce()._with_values(self.coalesce()._v.div(other, rounding_mode=rounding_mode))

    def matmul(self, other):
        return _algebra.product(self, other)

    def sum(self, dim=None, keepdim=False, dtype=None):
        return _algebra.sum(self if dtype is None else self.to(dtype), dim, keepdim)

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        if dim is not None:
            raise NotImplementedError("norm: of a sparse tensor there is only that of all elements")
        return self.coalesce()._v.norm(p, dtype=dtype)

    def any(self):
        return self.coalesce()._v.any()

    def bmm(self, mat2):
        return _algebra.batched_product(self, mat2)

    def zeros_like(self, *, dtype=None, **options):
        return sparse_coo_tensor(self.shape, dtype=dtype or self.dtype, device=self.device, **options)

    def sparse_mask(self, mask):
        return _algebra.mask_sparse(self, mask)

    def index_select(self, dim, index):
        return _algebra.index_select(self, dim, index)

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise NotImplementedError("a sparse tensor is indexed by one int; use index_select() or to_dense()")
        return _algebra.select(self, 0, index)

    def select(self, dim, index):
        return _algebra.select(self, dim, index)

    subtract, multiply, mm, spmm, smm = sub, mul, matmul, matmul, matmul
    __add__ = __radd__ = add
    __sub__ = sub
    __mul__ = __rmul__ = mul
    __truediv__ = div
    __matmul__ = matmul

    def __rsub__(self, other):
        return _algebra.add(self.neg(), other)

    def __rmatmul__(self, other):
        return _algebra.product(other, self)

    def __neg__(self):
        return self.neg()

    def __repr__(self, *, tensor_contents=None):
        from vivace.sparse._str import text

        return text(self)

    def __reduce_ex__(self, protocol):
        return _utils._rebuild_sparse_tensor, (self.layout, (self._i, self._v, self.shape, self._coalesced))

    def __deepcopy__(self, memo):
        from copy import deepcopy

        return SparseTensor._make(deepcopy(self._i, memo), deepcopy(self._v, memo), self.shape, self._coalesced)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func.__name__
        first = args[0] if args else None
        if name in _METADATA or name == "__get__":
            with _C.DisableTorchFunctionSubclass():
                result = func(*args, **kwargs)
            if isinstance(result, vivace.Tensor) and result is not first:  # of the metadata, which nobody wants
                raise NotImplementedError(f"vivace does not have {func.__self__.__name__} for sparse tensors")
            return result
        if isinstance(first, SparseTensor):
            method = vars(SparseTensor).get(name)
            if method is not None:
                return method(*args, **kwargs)
        elif name in _DENSE_FIRST and len(args) == 2 and isinstance(args[1], SparseTensor):
            return _algebra.DENSE_FIRST[name](*args, **kwargs)
        elif name in _algebra.FUNCTIONS:
            return _algebra.FUNCTIONS[name](*args, **kwargs)
        raise NotImplementedError(f"vivace does not have {name} for sparse tensors; to_dense() gives a dense one")


for _name in _LINEAR | _UNARY:
    setattr(SparseTensor, _name, _of_values(_name))


def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False, check_invariants=None,
    is_coalesced=False,
):  # fmt: skip
    """A sparse tensor with `values` at `indices`, which have a row for each sparse dim; equal ones count together.

    Without size: the smallest that holds the indices. sparse_coo_tensor(size): no element.
    """
    if indices is None and size is None:
        raise TypeError("sparse_coo_tensor() takes indices and values, or a size")
    if values is None:
        size = tuple(size if indices is None else indices)
        indices = vivace.empty((len(size), 0), dtype=vivace.int64, device=device)
        values = vivace.empty(0, dtype=dtype, device=device)
    indices = vivace.as_tensor(indices, device=device).to(vivace.int64)
    values = vivace.as_tensor(values, dtype=dtype, device=device)
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.dim() < 1 or values.size(0) != indices.size(1):
        raise RuntimeError(
            f"number of values must match the number of indices: {indices.size(1)} indices, but values of sizes "
            f"{list(values.shape)}"
        )
    _algebra.check_indices(indices, values, size)
    if size is None:
        size = (*((indices.amax(1) + 1).tolist() if indices.size(1) else [0] * indices.size(0)), *values.shape[1:])
    if requires_grad:
        values = values.detach().requires_grad_()
    elif values.requires_grad:
        values = values.view_as(values)  # the sparse tensor is no leaf
    return SparseTensor._make(indices, values, size, is_coalesced)

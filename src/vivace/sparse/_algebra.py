"""What sparse tensors compute, in dense operators on their indices and values."""

import math

import vivace


def _make(indices, values, size, coalesced=False):
    from vivace.sparse._coo import SparseTensor

    return SparseTensor._make(indices, values, size, coalesced)


def check_indices(indices, values, size):
    """Refuses indices outside of the sizes."""
    if indices.numel() == 0:
        return
    if size is not None and len(size) != indices.size(0) + values.dim() - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim ({values.dim() - 1}), but got "
            f"{len(size)}"
        )
    low, high = indices.amin(1).tolist(), indices.amax(1).tolist()
    if min(low) < 0:
        raise RuntimeError(f"found negative index {min(low)} in a sparse tensor")
    for dim, largest in enumerate(high):
        if size is not None and largest >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found index {largest}"
            )


def _flat(indices, size):
    """The place of each column of indices among all of the sizes."""
    flat = vivace.zeros(indices.size(1), dtype=vivace.int64)
    for row, n in zip(indices, size, strict=True):
        flat = flat * n + row
    return flat


def _unflat(flat, size):
    rows = []
    for n in reversed(size):
        rows.append(flat % n if n else flat)
        flat = flat // n if n else flat
    return vivace.stack(rows[::-1]) if rows else vivace.empty((0, len(flat)), dtype=vivace.int64)


def _grouped_sum(groups, n, values):
    """Sums of the values of each of n groups."""
    return values.new_zeros((n, *values.shape[1:])).index_add(0, groups, values)


def _sparse_sizes(s):
    return tuple(s.shape[: s._i.size(0)])


def coalesce(s):
    """In order, equal indices put together."""
    size = _sparse_sizes(s)
    places, groups = vivace.unique(_flat(s._i, size), return_inverse=True)
    return _make(_unflat(places, size), _grouped_sum(groups, len(places), s._v), s.shape, coalesced=True)


def scatter(indices, values, size):
    """The dense tensor."""
    sparse, dense = size[: indices.size(0)], values.shape[1:]
    return _grouped_sum(_flat(indices, sparse), math.prod(sparse), values).reshape((*sparse, *dense))


def from_dense(t, sparse_dim):
    """The elements that are not zero; slices of the dims after sparse_dim are stored whole."""
    count = t.dim() if sparse_dim is None else sparse_dim
    if not 0 <= count <= t.dim():
        raise IndexError(f"to_sparse: sparse_dim {count} is not between 0 and {t.dim()}, the number of dimensions")
    stored = t.detach() != 0
    if count < t.dim():
        stored = stored.flatten(count).any(-1)
    indices = stored.nonzero().t()
    return _make(indices, t[tuple(indices)], t.shape, coalesced=True)


def mask(t, like):
    """The elements of a dense tensor where `like` has some."""
    like = like.coalesce()
    return like._with_values(t[tuple(like._i)])


def permute(s, order):
    """Sparse dims among themselves, dense ones too."""
    n = s._i.size(0)
    if any((dim < n) != (place < n) for place, dim in enumerate(order)):
        raise RuntimeError("transpose: a sparse dim can't change places with a dense one")
    values = s._v.permute(0, *(dim - n + 1 for dim in order[n:])) if len(order) > n else s._v
    return _make(s._i[order[:n]], values, [s.shape[dim] for dim in order])


def add(s, other):
    """Sparse with sparse; with a dense tensor the result is dense."""
    if not getattr(other, "is_sparse", False):
        if not isinstance(other, vivace.Tensor):
            raise RuntimeError("add: a number can't be added to a sparse tensor, whose zeros are not stored")
        return other + s.to_dense()
    if s.shape != other.shape:
        raise RuntimeError(f"add: expected sizes of {list(s.shape)} and {list(other.shape)} to match")
    values = vivace.cat([s._v, other._v])
    return coalesce(_make(vivace.cat([s._i, other._i], 1), values, s.shape))


def multiply(s, other):
    """By a number, or by a dense or sparse tensor elementwise."""
    if not isinstance(other, vivace.Tensor) or other.dim() == 0:
        return s._with_values(s._v * other)
    s = s.coalesce()
    if not other.is_sparse:
        return s._with_values(s._v * other.expand(s.shape)[tuple(s._i)])
    if s.shape != other.shape:
        raise RuntimeError(f"mul: expected sizes of {list(s.shape)} and {list(other.shape)} to match")
    other, size = other.coalesce(), _sparse_sizes(s)
    mine, theirs = _flat(s._i, size), _flat(other._i, size)
    if len(theirs) == 0:
        return _make(other._i, s._v[:0] * other._v, s.shape, coalesced=True)
    at = vivace.searchsorted(theirs, mine).clamp(max=len(theirs) - 1)
    both = (theirs[at] == mine).nonzero().squeeze(1)
    return _make(s._i[:, both], s._v[both] * other._v[at[both]], s.shape, coalesced=True)


def product(a, b):
    """The product of matrices, or with a vector."""
    if a.shape[-1] != b.shape[0] or a.dim() > 2 or b.dim() > 2:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_shape(a)} and {_shape(b)})")
    if not a.is_sparse:
        return product(b.t(), a.t()).t()
    if b.is_sparse:
        return _sparse_product(a, b.coalesce())
    rows, columns = a._i
    factors = b.index_select(0, columns)
    return _grouped_sum(rows, a.shape[0], (a._v.unsqueeze(1) if b.dim() == 2 else a._v) * factors)


def _shape(t):
    return "x".join(map(str, t.shape))


def _sparse_product(a, b):
    """Each element of a meets the row of b that its column names; b is in order."""
    lengths = vivace.bincount(b._i[0], minlength=b.shape[0])
    begins = lengths.cumsum(0) - lengths
    meets = lengths[a._i[1]]
    element = vivace.repeat_interleave(vivace.arange(a._i.size(1)), meets)
    within = vivace.arange(len(element)) - (meets.cumsum(0) - meets)[element]
    partner = begins[a._i[1]][element] + within
    indices = vivace.stack([a._i[0][element], b._i[1][partner]])
    return coalesce(_make(indices, a._v[element] * b._v[partner], (a.shape[0], b.shape[1])))


def sum(s, dim, keepdim=False):
    """See torch.sparse.sum."""
    if dim is None:
        return s._v.sum()
    n = s._i.size(0)
    dims = sorted({d % s.dim() for d in ([dim] if isinstance(dim, int) else dim)})
    if keepdim:
        raise NotImplementedError("sum: sparse tensors don't keep the dims that are summed")
    values = s._v
    if inner := [d - n + 1 for d in dims if d >= n]:
        values = values.sum(inner)
    kept = [d for d in range(n) if d not in dims]
    size = [s.shape[d] for d in range(s.dim()) if d not in dims]
    if not kept:
        return values.sum(0) if len(dims) > len(inner) else _make(s._i, values, size)
    return coalesce(_make(s._i[kept], values, size))


def index_select(s, dim, index):
    """Slices along a sparse dim."""
    dim %= s.dim()
    if dim >= s._i.size(0):
        return s._with_values(s._v.index_select(dim - s._i.size(0) + 1, index))
    s = s.coalesce()
    chosen, element = (index.unsqueeze(1) == s._i[dim]).nonzero().t()
    indices = s._i[:, element]
    indices[dim] = chosen
    size = [len(index) if d == dim else n for d, n in enumerate(s.shape)]
    return coalesce(_make(indices, s._v[element], size))


def select(s, dim, index):
    """One slice along a sparse dim."""
    dim %= s.dim()
    if not -s.shape[dim] <= index < s.shape[dim]:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {s.shape[dim]}")
    s, n = s.coalesce(), s._i.size(0)
    if dim >= n:
        return _make(s._i, s._v.select(dim - n + 1, index), [*s.shape[:dim], *s.shape[dim + 1 :]], coalesced=True)
    found = (s._i[dim] == index % s.shape[dim]).nonzero().squeeze(1)
    if n == 1:
        return s._v[found].sum(0)
    others = [d for d in range(n) if d != dim]
    return _make(s._i[others][:, found], s._v[found], [*s.shape[:dim], *s.shape[dim + 1 :]], coalesced=True)


def unsqueeze(s, dim):
    """A dim of size one more."""
    dim %= s.dim() + 1
    n, size = s._i.size(0), [*s.shape[:dim], 1, *s.shape[dim:]]
    if dim > n:
        return _make(s._i, s._v.unsqueeze(dim - n + 1), size, s._coalesced)
    row = vivace.zeros((1, s._i.size(1)), dtype=vivace.int64)
    return _make(vivace.cat([s._i[:dim], row, s._i[dim:]]), s._v, size, s._coalesced)


def stack(tensors, dim=0):
    """Side by side in a new dim."""
    return cat([unsqueeze(t, dim) for t in tensors], dim)


def mask_sparse(s, like):
    """The elements where `like` has some, which are zero where s has none."""
    like = like.coalesce()
    zeros = s._v.new_zeros((like._i.size(1), *s._v.shape[1:]))
    s = coalesce(_make(vivace.cat([s._i, like._i], 1), vivace.cat([s._v, zeros]), s.shape))
    size = _sparse_sizes(s)
    return like._with_values(s._v[vivace.searchsorted(_flat(s._i, size), _flat(like._i, size))])


def batched_product(s, other):
    """The product of each matrix of s with a dense one."""
    if s.dim() != 3 or other.dim() != 3 or s.shape[0] != other.shape[0] or s.shape[2] != other.shape[1]:
        raise RuntimeError(f"bmm: sizes of {_shape(s)} and {_shape(other)} can't be multiplied")
    batch, rows, columns = s._i
    n = s.shape[0] * s.shape[1]
    products = _grouped_sum(batch * s.shape[1] + rows, n, s._v.unsqueeze(1) * other[batch, columns])
    return products.reshape(*s.shape[:2], other.shape[2])


def softmax(s, dim, log):
    """Along a sparse dim."""
    s = s.coalesce()
    size, dim = _sparse_sizes(s), dim % s.dim()
    if dim >= len(size):
        values = s._v.log_softmax(dim - len(size) + 1) if log else s._v.softmax(dim - len(size) + 1)
        return s._with_values(values)
    others = [d for d in range(len(size)) if d != dim]
    _, groups = vivace.unique(_flat(s._i[others], [size[d] for d in others]), return_inverse=True)
    n = int(groups.max()) + 1 if len(groups) else 0
    where = groups.reshape(-1, *[1] * (s._v.dim() - 1)).expand_as(s._v)
    low = s._v.new_full((n, *s._v.shape[1:]), -math.inf)
    shifted = s._v - low.scatter_reduce(0, where, s._v.detach(), "amax")[groups]
    total = _grouped_sum(groups, n, shifted.exp())[groups]
    return s._with_values(shifted - total.log() if log else shifted.exp() / total)


def cat(tensors, dim=0):
    """Along a sparse dim."""
    first = tensors[0]
    dim %= first.dim()
    if dim >= first._i.size(0):
        raise NotImplementedError("cat: sparse tensors are joined along sparse dims")
    indices, begin = [], 0
    for t in tensors:
        shift = vivace.zeros((t._i.size(0), 1), dtype=vivace.int64)
        shift[dim] = begin
        indices.append(t._i + shift)
        begin += t.shape[dim]
    size = [begin if d == dim else n for d, n in enumerate(first.shape)]
    return _make(vivace.cat(indices, 1), vivace.cat([t._v for t in tensors]), size)


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return input * beta + product(mat1, mat2) * alpha


# Functions whose first argument is no sparse tensor.
FUNCTIONS = {"addmm": addmm, "cat": cat, "sparse_mask": mask, "stack": stack}
DENSE_FIRST = {
    "add": lambda a, b, alpha=1: add(b * alpha, a),
    "sub": lambda a, b, alpha=1: add(b * -alpha, a),
    "mul": lambda a, b: multiply(b, a),
    "mm": product,
    "matmul": product,
    "spmm": product,
}
DENSE_FIRST |= {"subtract": DENSE_FIRST["sub"], "multiply": DENSE_FIRST["mul"]}

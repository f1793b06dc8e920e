"""Functions of the torch namespace with Python signatures: results that depend on flags, any number of tensors."""

import vivace
from vivace._C import overridable


def _tensors(tensors):
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    result = (values,) + (inverse,) * bool(return_inverse) + (counts,) * bool(return_counts)
    return result if len(result) > 1 else values


@overridable
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements of a tensor, or its distinct slices along `dim`, in order."""
    found = vivace._unique(input, sorted, return_inverse, return_counts, dim)
    return _chosen(*found, return_inverse, return_counts)


@overridable
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along `dim`) without those that equal the one before."""
    found = vivace._unique_consecutive(input, return_inverse, return_counts, dim)
    values, inverse, counts = found
    if dim is None:
        values = values.reshape(-1)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


@overridable
def broadcast_tensors(*tensors):
    """Views of the tensors with their common shape."""
    return tuple(vivace._broadcast_tensors(_tensors(tensors)))


def broadcast_shapes(*shapes):
    """The shape that all of the given shapes broadcast to."""
    result = []
    for shape in shapes:
        sizes = [shape] if isinstance(shape, int) else list(shape)
        if any(s < 0 for s in sizes):
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
        result = [1] * (len(sizes) - len(result)) + result
        for at, size in zip(range(-len(sizes), 0), sizes, strict=True):
            if result[at] == 1:
                result[at] = size
            elif size not in (1, result[at]):
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape: "
                    f"size {size} does not match {result[at]} at dimension {at}"
                )
    return vivace.Size(result)


@overridable
def meshgrid(*tensors, indexing="ij"):
    """Grids of coordinates: one tensor for each vector, all of the shape that their lengths make."""
    tensors = _tensors(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"torch.meshgrid: indexing must be one of 'xy' or 'ij', but received: {indexing}")
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t.dim()}D")
        if t.dtype != tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors[:2] = tensors[1::-1]
    shape = [t.numel() for t in tensors]
    grids = []
    for at, t in enumerate(tensors):
        sizes = [1] * len(shape)
        sizes[at] = shape[at]
        grids.append(t.reshape(sizes).expand(shape))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@overridable
def cartesian_prod(*tensors):
    """All tuples of one element from each vector, a row each."""
    tensors = _tensors(tensors)
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return vivace.stack([g.flatten() for g in meshgrid(*tensors)], 1)


@overridable
def block_diag(*tensors):
    """A matrix with the given matrices on its diagonal."""
    blocks = []
    for at, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has {t.dim()} dimensions"
            )
        blocks.append(t.reshape(1, -1) if t.dim() < 2 else t)
    width = sum(b.shape[1] for b in blocks)
    rows, start = [], 0
    for b in blocks:
        left = b.new_zeros(b.shape[0], start)
        right = b.new_zeros(b.shape[0], width - start - b.shape[1])
        rows.append(vivace.cat([left, b, right], 1))
        start += b.shape[1]
    return vivace.cat(rows) if rows else vivace.empty(1, 0)


def _atleast(tensors, shaped):
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return shaped(tensors[0])
    return tuple(shaped(t) for t in _tensors(tensors))


@overridable
def atleast_1d(*tensors):
    """The tensors, with at least one dimension."""
    return _atleast(tensors, lambda t: t.reshape(1) if t.dim() == 0 else t)


@overridable
def atleast_2d(*tensors):
    """The tensors, with at least two dimensions; vectors become rows."""
    return _atleast(tensors, lambda t: t.reshape(1, -1) if t.dim() < 2 else t)


@overridable
def atleast_3d(*tensors):
    """The tensors, with at least three dimensions."""
    return _atleast(tensors, lambda t: t.reshape(1, -1, 1) if t.dim() < 2 else t.unsqueeze(-1) if t.dim() == 2 else t)


@overridable
def einsum(equation, *operands):
    """Sums of products over named dims; operands come as one list, or each followed by its dims' numbers."""
    if isinstance(equation, str):
        return vivace._einsum(equation, _tensors(operands))
    # einsum(x, [0, 1], y, [1, 2], [0, 2]) says with numbers what letters say.
    parts = [equation, *operands]
    output = parts.pop() if len(parts) % 2 else None

    def letters(dims):
        return "".join("..." if d is Ellipsis else chr(ord("A") + d if d < 26 else ord("a") + d - 26) for d in dims)

    text = ",".join(letters(dims) for dims in parts[1::2])
    if output is not None:
        text += "->" + letters(output)
    return vivace._einsum(text, parts[::2])


@overridable
def tensordot(a, b, dims=2, out=None):
    """Sums of products over pairs of dims: the last `dims` of a with the first of b, or those of two lists."""
    if isinstance(dims, (tuple, list, vivace.Tensor)) and not (isinstance(dims, vivace.Tensor) and dims.numel() == 1):
        dims_a, dims_b = dims.tolist() if isinstance(dims, vivace.Tensor) else dims
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in (dims_a, dims_b))
    elif isinstance(dims, (int, vivace.Tensor)):
        n = int(dims)
        if n < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={n}")
        if n > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={n}")
        dims_a, dims_b = range(-n, 0), range(n)
    else:
        raise RuntimeError(f"tensordot expects dims to be an int or two lists of ints, but got dims={dims}")
    return vivace._tensordot(a, b, tuple(dims_a), tuple(dims_b), **({} if out is None else {"out": out}))


@overridable
def chain_matmul(*matrices, out=None):
    """linalg.multi_dot() in its older form, of matrices only."""
    for m in matrices:
        if m.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {m.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0] if out is None else out.copy_(matrices[0])
    return vivace.linalg.multi_dot(matrices, **({} if out is None else {"out": out}))


@overridable
def unravel_index(indices, shape):
    """The coordinates of flat indices into a tensor of the given shape: one tensor a dimension."""
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == vivace.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, list, tuple)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    rest, coordinates = indices.long(), []
    for size in reversed(shape):
        coordinates.append(rest.remainder(size))
        rest = rest.div(max(size, 1), rounding_mode="floor")
    return tuple(reversed(coordinates))


def _uneven_slopes(x, position, dim, edge_order):
    """Slopes along a dimension at points whose coordinates differ by other steps."""
    shape = [-1 if d == dim else 1 for d in range(x.dim())]
    step, rise = position.diff().reshape(shape), x.diff(dim=dim)
    n = x.shape[dim]
    left, right = step.narrow(dim, 0, n - 2), step.narrow(dim, 1, n - 2)
    slope = rise / step
    before, after = slope.narrow(dim, 0, n - 2), slope.narrow(dim, 1, n - 2)
    inner = (before * right + after * left) / (left + right)
    first, last = slope.narrow(dim, 0, 1), slope.narrow(dim, n - 2, 1)
    if edge_order == 2:

        def bent(near, far, own, other):
            return near + (near - far) * own / (own + other)

        first = bent(first, slope.narrow(dim, 1, 1), step.narrow(dim, 0, 1), step.narrow(dim, 1, 1))
        last = bent(last, slope.narrow(dim, n - 3, 1), step.narrow(dim, n - 2, 1), step.narrow(dim, n - 3, 1))
    return vivace.cat([first, inner, last], dim)


def _gradient_spacing(input, spacing, dims):
    """The coordinates or the step along each dim."""
    if spacing is None:
        return [1] * len(dims)
    if not isinstance(spacing, (list, tuple)):
        if isinstance(spacing, vivace.Tensor):
            raise TypeError("gradient() received an invalid combination of arguments: spacing is a tensor")
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        given = "since dim argument was not given" if dims == list(range(input.dim())) else "or `dim`"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {input.dim()}', {given}, but got a list of length {len(spacing)}"
        )
    for s in spacing:
        if isinstance(s, vivace.Tensor) and s.dim() != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{s.dim()} dimensions!"
            )
    return list(spacing)


@overridable
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The derivative along each of some dims (all of them) by differences of second order."""
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if input.dtype == vivace.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims = list(range(input.dim())) if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]
    wrapped = []
    for d in dims:
        if not -input.dim() <= d < input.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {d})"
            )
        if d % input.dim() in wrapped:
            raise RuntimeError(f"dim {d % input.dim()} appears multiple times in the list of dims")
        wrapped.append(d % input.dim())
    steps = _gradient_spacing(input, spacing, wrapped)
    result = []
    for d, step in zip(wrapped, steps, strict=True):
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        if not isinstance(step, vivace.Tensor):
            real = input.dtype if input.is_floating_point() else vivace.get_default_dtype()
            real = input.real.dtype if input.is_complex() else real
            step = vivace.arange(input.shape[d], dtype=real, device=input.device) * step
        result.append(_uneven_slopes(input, step, d, edge_order))
    return tuple(result)


@overridable
def lu(A, pivot=True, get_infos=False, out=None):
    """LU factors and pivots of linalg.lu_factor(), and LAPACK's codes if they are asked for."""
    result = vivace.linalg.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    result = result if get_infos else (result.LU, result.pivots)
    if out is None:
        return result
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) - int(get_infos) != 2:
        raise TypeError(f"expected tuple of {2 + int(get_infos)} elements but got {len(out)}")
    for target, value in zip(out, result, strict=True):
        target.resize_as_(value).copy_(value)
    return out

"""vmap: the function runs once, on tensors that stand for all samples; operators know what to do with them.

What a batched tensor is, and how operators treat it: runtime/vmap, and the rules in `_rules`.
"""

import functools

import vivace
from vivace import _C, Tensor
from vivace.func import _rules  # noqa: F401 - sets what operators do
from vivace.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

RANDOMNESS = ("error", "different", "same")


def _name(func):
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


def mapped(args, in_dims, func):
    """The leaves of the arguments, their spec, the dim of each that is mapped (or None), and the number of samples."""
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    wanted = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = _broadcast_to_and_flatten(wanted, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            f"`inputs`. in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    sizes = [_checked_size(leaf, dim, in_dims, func) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if sizes.count(sizes[0]) != len(sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return leaves, spec, dims, sizes[0]


def _checked_size(leaf, dim, in_dims, func):
    given = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
    if not isinstance(dim, int):
        raise ValueError(f"{given} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{given} an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, please "
            "use None as the respective in_dim"
        )
    rank = leaf.dim()
    if not -rank <= dim < rank:
        raise ValueError(
            f"{given} some input, but that input is a Tensor of dimensionality {rank} so expected in_dim to satisfy "
            f"-{rank} <= in_dim < {rank}."
        )
    return leaf.shape[dim]


def _flat_out_dims(out_dims, spec, func):
    if isinstance(out_dims, int) or out_dims is None:
        return [out_dims] * spec.num_leaves
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = list(out_dims) * spec.num_leaves if spec.is_leaf() else None
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _check_out_dims(out_dims, func):
    if isinstance(out_dims, int) or out_dims is None:
        return
    if not isinstance(out_dims, (tuple, list, dict)) or not all(
        d is None or isinstance(d, int) for d in tree_flatten(out_dims)[0]
    ):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
            "ints representing where in the outputs the vmapped dimension should appear."
        )


def _without_batch(t, level, dim):
    """A result with the dim of the batch, which the tangents of an unbatched one may have."""
    if _C._vmap_level(t) != level:
        tangents = _C._tangents(t)
        if any(_C._vmap_level(x) == level for _, x in tangents):
            primal = _C._remove_batch_dim(_C._with_tangents(t, []), level, dim)
            return _C._with_tangents(primal, [(at, _without_batch(x, level, dim)) for at, x in tangents])
    return _C._remove_batch_dim(t, level, dim)


def _unwrapped(leaf, dim, level, func):
    """A result as the caller gets it."""
    if isinstance(leaf, Tensor):
        if dim is not None:
            return _without_batch(leaf, level, dim)
        if _C._vmap_level(leaf) == level:
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None"
            )
        return leaf
    if dim is None:
        return leaf
    raise ValueError(
        f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(leaf)}. Did you mean to "
        "set out_dims= to None for output?"
    )


def call(func, leaves, spec, dims, size, out_dims, randomness, kwargs, only_tangents=False):
    """The function on batches: the leaves of its result as the caller gets them, and their spec."""
    level = _C._vmap_enter(size, randomness, only_tangents)
    try:
        batched = [x if d is None else _C._add_batch_dim(x, d, level) for x, d in zip(leaves, dims, strict=True)]
        flat, result_spec = tree_flatten(func(*tree_unflatten(batched, spec), **kwargs))
        result_dims = _flat_out_dims(out_dims, result_spec, func)
        return [_unwrapped(x, d, level, func) for x, d in zip(flat, result_dims, strict=True)], result_spec
    finally:
        _C._vmap_leave()


def _in_chunks(func, leaves, spec, dims, size, out_dims, randomness, kwargs, chunk_size):
    """The same, `chunk_size` samples at a time."""
    results, result_spec = [], None
    state = vivace.get_rng_state() if randomness == "same" else None
    for start in range(0, size, chunk_size):
        n = min(chunk_size, size - start)
        part = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
        if state is not None:
            vivace.set_rng_state(state)
        flat, result_spec = call(func, part, spec, dims, n, out_dims, randomness, kwargs)
        results.append(flat)
    result_dims = _flat_out_dims(out_dims, result_spec, func)
    joined = [
        column[0] if d is None else vivace.cat(column, d)
        for column, d in zip(zip(*results, strict=True), result_dims, strict=True)
    ]
    return joined, result_spec


def debug_unwrap(tensor, *, recurse=True):
    """What is behind a sample in vmap: the tensor of all samples; of the innermost vmap, without `recurse`."""
    return _C._vmap_unwrap(tensor)[0] if recurse else _C._vmap_physical(tensor)


def functionalize(func, *, remove="mutations"):
    """A function that does what func does. Programs that record operators ask for one without changes in place; here
    every call runs at once, so there is nothing to take out."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): Valid options for argument \"remove\" are: "
            f'"mutations", "mutations_and_views". Got {remove!r}'
        )

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapper


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps func over slices of its inputs along `in_dims`, and has the results along `out_dims`.

    Random operators in it are an error, give each sample numbers of its own ("different"), or all the same ("same").
    With chunk_size so many samples run at a time.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        _check_out_dims(out_dims, func)
        leaves, spec, dims, size = mapped(args, in_dims, func)
        if chunk_size is not None and chunk_size < size:
            flat, result_spec = _in_chunks(func, leaves, spec, dims, size, out_dims, randomness, kwargs, chunk_size)
        else:
            flat, result_spec = call(func, leaves, spec, dims, size, out_dims, randomness, kwargs)
        return tree_unflatten(flat, result_spec)

    return wrapper

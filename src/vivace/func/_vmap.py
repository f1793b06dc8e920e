"""vmap: the function is called for each sample, and the results are stacked."""

import functools

import vivace
from vivace.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def _mapped_dims(args, in_dims, name):
    """The leaves of the arguments, their spec, the dim of each that is mapped (or None), and the number of samples."""
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs; did you forget to add inputs, or are you trying to "
                         "vmap over a function with no inputs?")  # fmt: skip
    leaves, spec = tree_flatten(args)
    wanted = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = _broadcast_to_and_flatten(wanted, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`."
        )
    sizes = {leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None}
    if not sizes:
        raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): at least one input must be mapped")
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)}"
        )
    return leaves, spec, dims, sizes.pop()


def _stacked(results, out_dims, name):
    """The trees of all samples as one, with the new dim where out_dims say."""
    flat, spec = zip(*map(tree_flatten, results), strict=True)
    for leaf in flat[0]:
        if not isinstance(leaf, vivace.Tensor):
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}.")
    dims = _broadcast_to_and_flatten(out_dims, spec[0])
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = list(out_dims) * len(flat[0])
    if dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the outputs")
    joined = [c[0] if d is None else vivace.stack(c, d) for c, d in zip(zip(*flat, strict=True), dims, strict=True)]
    return tree_unflatten(joined, spec[0])


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func with each slice of its inputs along `in_dims`, and stacks the results.

    With randomness="same" each call draws the same numbers, else its own.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        leaves, spec, dims, count = _mapped_dims(args, in_dims, name)
        state = vivace.get_rng_state() if randomness == "same" else None
        results = []
        for i in range(count):
            if state is not None:
                vivace.set_rng_state(state)
            sample = [x if d is None else x.select(d, i) for x, d in zip(leaves, dims, strict=True)]
            results.append(func(*tree_unflatten(sample, spec), **kwargs))
        if not results:
            raise ValueError(f"vmap({name}): the mapped dimension has no elements")
        return _stacked(results, out_dims, name)

    return wrapper

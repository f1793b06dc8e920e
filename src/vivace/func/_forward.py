"""Derivatives along tangents. They nest: each has a dual level of its own, inside of those that are open."""

import functools

import vivace
from vivace import _C, Tensor
from vivace.func import _vmap
from vivace.func._derivatives import _chosen, _Level, _split_aux, _with_chosen, jacrev
from vivace.utils._pytree import tree_flatten, tree_map, tree_unflatten


class _dual_level:
    """A level of one derivative."""

    __slots__ = ("number",)

    def __enter__(self):
        self.number = _C._enter_dual_level()
        return self.number

    def __exit__(self, *exception):
        _C._exit_dual_level(self.number)


def _tensors(tree, name, what):
    """The leaves, which must be tensors, and the spec of the tree."""
    leaves, spec = tree_flatten(tree)
    if not leaves:
        raise RuntimeError(f"{name}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: Expected {what} to only contain Tensors, got {type(leaf)}")
    return leaves, spec


def _unpack(dual, level, strict):
    """An output and its tangent."""
    if not isinstance(dual, Tensor):
        raise RuntimeError(f"jvp: expected f(*args) to return only tensors, got unsupported type {type(dual)}")
    primal, tangent = _C._unpack_dual(dual, level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = vivace.zeros_like(primal)
    return primal, tangent


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The output of func, and the product of its Jacobian with the tangents."""
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    values, spec = _tensors(primals, "jvp", "primals")
    directions, given = _tensors(tangents, "jvp", "tangents")
    if given != spec:
        raise RuntimeError(
            "jvp: Expected primals and tangents to have the same python structure. For example, if primals is a tuple "
            f"of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{given}"
        )
    with _dual_level() as level:
        duals = [_C._make_dual(p, t, level) for p, t in zip(values, directions, strict=True)]
        output = func(*tree_unflatten(duals, spec))
        output, aux = _split_aux(output, has_aux, "jvp")
        if isinstance(output, Tensor):
            results = _unpack(output, level, strict)
        else:
            flat, output_spec = tree_flatten(output)
            pairs = [_unpack(dual, level, strict) for dual in flat]
            results = tuple(tree_unflatten([pair[i] for pair in pairs], output_spec) for i in (0, 1))
        if not has_aux:
            return results
        return *results, tree_map(lambda x: _C._unpack_dual(x, level)[0] if isinstance(x, Tensor) else x, aux)


def _basis(leaves):
    """For each of the tensors a batch of tangents; together they are the directions of all elements, one by one."""
    counts = [leaf.numel() for leaf in leaves]
    total, start, batches = sum(counts), 0, []
    for leaf, count in zip(leaves, counts, strict=True):
        batch = leaf.new_zeros(total, count)
        batch.diagonal(-start).fill_(1)
        batches.append(batch.view(total, *leaf.shape))
        start += count
    return batches


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian of func, column by column."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        leaves, spec = _tensors(_chosen(args, argnums), "jacfwd", "args")

        def push(*tangents):
            def call(*values):
                return func(*_with_chosen(args, argnums, tree_unflatten(values, spec)), **kwargs)

            return jvp(call, tuple(leaves), tangents, has_aux=has_aux)[1:]

        basis = _basis(leaves)
        flat, tree = _vmap.call(
            push, basis, tree_flatten(tuple(basis))[1], [0] * len(basis), len(basis[0]), 0, randomness, {}, True
        )
        columns, *aux = tree_unflatten(flat, tree)
        result = tree_map(lambda column: _split(column, leaves, spec), columns)
        return (result, tree_map(lambda x: x[0], aux[0])) if has_aux else result

    return wrapper


def _split(columns, leaves, spec):
    """The Jacobian of one output by each of the inputs, from derivatives along the basis."""
    parts = columns.movedim(0, -1).split([leaf.numel() for leaf in leaves], -1)
    shaped = [part.reshape(columns.shape[1:] + leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
    return tree_unflatten(shaped, spec)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func."""
    return jacfwd(jacrev(func, argnums), argnums)


def linearize(func, *primals):
    """The output of func, and the function that multiplies its Jacobian there with tangents, which does not call func
    again: what backward does is linear in its vector, and the derivative by that is the product.
    """
    values, spec = _tensors(primals, "linearize", "primals")
    with _Level() as level:
        flat, output_spec = tree_flatten(func(*level.inputs(primals)))
        with _Level() as vectors:
            weights = vectors.inputs([vivace.zeros_like(o) for o in flat])
            pulled = tree_flatten(level.gradients(flat, weights))[0]
        level.also_from(vectors)
        output = level.result(tree_unflatten(flat, output_spec))

    def multiply(*tangents):
        directions, given = _tensors(tangents, "linearize", "tangents")
        if given != spec:
            raise RuntimeError(f"Expected the tangents {given} to have the same structure as the primals {spec}")
        for t, x in zip(directions, values, strict=True):
            if t.shape != x.shape or t.dtype != x.dtype:
                raise RuntimeError(
                    f"Expected tangents of the shapes and dtypes of the primals, got {t.dtype} {tuple(t.shape)} for "
                    f"{x.dtype} {tuple(x.shape)}"
                )
        with level:
            products = vectors.gradients(pulled, directions)
            return level.result(tree_unflatten(products, output_spec))

    return output, multiply

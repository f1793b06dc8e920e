"""Derivatives of functions as functions, backward. They nest: an inner one leaves its graph to the outer."""

import functools
from contextlib import nullcontext

import vivace
from vivace import _C, Tensor
from vivace.func._levels import base_at, outside
from vivace.utils._pytree import tree_flatten, tree_map, tree_unflatten

_depth = 0  # derivatives that are being computed, one in the other


class _Level:
    """One derivative. Its inputs are aliases, so that only what the function does with them counts. In vmap each sample
    has inputs of its own, also where the caller's is the same for all."""

    def __enter__(self):
        global _depth
        _depth += 1
        self._recording = vivace.enable_grad()
        self._recording.__enter__()
        return self

    def __exit__(self, *exception):
        global _depth
        _depth -= 1
        self._recording.__exit__(*exception)

    def inputs(self, tree):
        """The tree with fresh tensors, and those tensors."""
        leaves, spec = tree_flatten(tree)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        self._spec = spec
        self._levels = _C._vmap_sample_levels()
        with outside():
            given = [base_at(x, self._levels) for x in leaves] if self._levels else leaves
            self._open = any(x.requires_grad for x in given)
            self._bases = [x.view_as(x) if x.requires_grad else _C._detach_dual(x).requires_grad_() for x in given]
        self.fresh = [_C._vmap_wrap(x, self._levels) for x in self._bases] if self._levels else self._bases
        return tree_unflatten(self.fresh, spec)

    def gradients(self, outputs, weights, keep=True):
        """Of the outputs by the inputs, in their tree; zeros where there is no connection."""
        roots, directions, extra = [], [], False
        for output, weight in zip(outputs, weights, strict=True):
            base, levels = _C._vmap_unwrap(output)
            if not base.requires_grad:
                continue
            roots.append(base)
            if output is not base or _C._vmap_level(weight):
                weight = _C._vmap_beside_base(weight, levels)
                extra = extra or _C._vmap_level(weight) > 0
            directions.append(weight)
        found = [None] * len(self._bases)
        if roots:
            tangents = [_C._vmap_unwrap(t)[0] for root in roots for _, t in _C._tangents(root)]
            graph = _depth > 1 or self._open or not _C._graph_ends_within(roots + tangents, self._bases)
            with nullcontext() if extra else outside():
                found = vivace.autograd.grad(
                    roots, self._bases, directions, retain_graph=keep or graph, create_graph=graph, allow_unused=True
                )
        found = [
            vivace.zeros_like(x) if g is None else _C._vmap_beside_batched(g, self._levels)
            for g, x in zip(found, self.fresh, strict=True)
        ]
        return tree_unflatten([self.result(g) for g in found], self._spec)

    def also_from(self, other):
        """Results are cut off from the inputs of another derivative, too."""
        self._bases = self._bases + other._bases

    def result(self, tree):
        """Cut off from this derivative's own inputs, unless an outer one or a tensor from outside is on the graph."""
        return tree_map(lambda t: self._cut(t) if isinstance(t, Tensor) else t, tree)

    def _cut(self, t):
        if _depth > 1:
            return t
        base, levels = _C._vmap_unwrap(t)
        cut = self._cut_base(base)
        return t if cut is base else _C._vmap_wrap(cut, levels)

    def _cut_base(self, base):
        tangents = _C._tangents(base)
        if tangents:
            cut = [self._cut(t) for _, t in tangents]
            if any(new is not old for new, (_, old) in zip(cut, tangents, strict=True)):
                base = _C._with_tangents(base, [(level, new) for new, (level, _) in zip(cut, tangents, strict=True)])
        if not base.requires_grad or self._open or not _C._graph_ends_within([base], self._bases):
            return base
        with outside():
            return _C._detach_dual(base)


def _checked_argnum(argnum, count):
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def _chosen(args, argnums):
    """The arguments that a derivative is by."""
    if isinstance(argnums, int):
        return args[_checked_argnum(argnums, len(args))]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    places = [_checked_argnum(i, len(args)) for i in argnums]
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(args[i] for i in places)


def _with_chosen(args, argnums, chosen):
    args = list(args)
    if isinstance(argnums, int):
        args[argnums] = chosen
    else:
        for i, value in zip(argnums, chosen, strict=True):
            args[i] = value
    return args


def _split_aux(output, has_aux, name):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func, whose output is one number, and the output."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Level() as level:
            chosen = level.inputs(_chosen(args, argnums))
            output, aux = _split_aux(
                func(*_with_chosen(args, argnums, chosen), **kwargs), has_aux, "grad_and_value(f)(*args)"
            )
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            gradient = level.gradients([output], [vivace.ones_like(output)], keep=False)
            value = level.result(output)
            return (gradient, (value, level.result(aux))) if has_aux else (gradient, value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func, whose output is one number."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def _checked_outputs(flat, api):
    if (len(flat) == 1 and flat[0] is None) or not flat:
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {flat})")
    for output in flat:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(output)}"
            )


class _Star:
    def __repr__(self):
        return "*"


def _stars(spec):
    """How errors show a tree."""
    return tree_unflatten([_Star()] * spec.num_leaves, spec)


def vjp(func, *primals, has_aux=False):
    """The output, and a function that multiplies from the left with the Jacobian there."""
    with _Level() as level:
        inputs = level.inputs(primals)
        output, aux = _split_aux(func(*inputs), has_aux, "vjp(f, *primals)")
        flat, spec = tree_flatten(output)
        _checked_outputs(flat, "vjp(f, *primals)")
        for found in flat:
            if not (found.is_floating_point() or found.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{found.dtype}"
                )
        value = level.result(output)

    def multiply(cotangents, retain_graph=True, create_graph=None):
        weights, given = tree_flatten(cotangents)
        if given != spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {_stars(given)}, primal output: {_stars(spec)}"
            )
        with level:
            found = level.gradients(flat, weights)
        return found if len(primals) > 1 else (found[0],)

    return (value, multiply, level.result(aux)) if has_aux else (value, multiply)


def _rows(level, output, chunk_size):
    """The Jacobian of one output: by each input a tensor of the output's sizes and then the input's."""
    n = output.numel()
    basis = vivace.eye(n, dtype=output.dtype, device=output.device).view(n, *output.shape)
    chunks = []
    for start in range(0, n, chunk_size or max(n, 1)):
        part = basis[start : start + chunk_size] if chunk_size else basis
        rows = _C._vmap_enter(len(part), "error")
        try:
            found = tree_flatten(level.gradients([output], [_C._add_batch_dim(part, 0, rows)]))[0]
            chunks.append([_C._remove_batch_dim(g, rows, 0) for g in found])
        finally:
            _C._vmap_leave()
    joined = [
        (column[0] if len(column) == 1 else vivace.cat(column)).reshape(output.shape + x.shape)
        if column
        else x.new_zeros(output.shape + x.shape)
        for column, x in zip(zip(*chunks, strict=True) if chunks else [()] * len(level.fresh), level.fresh, strict=True)
    ]
    return tree_unflatten(joined, level._spec)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of func: backward runs once for all its rows, or for `chunk_size` of them."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        _refuse_complex("jacrev", args, "inputs")
        with _Level() as level:
            chosen = level.inputs(_chosen(args, argnums))
            output, aux = _split_aux(func(*_with_chosen(args, argnums, chosen), **kwargs), has_aux, "vjp(f, *primals)")
            flat, spec = tree_flatten(output)
            _checked_outputs(flat, "jacrev")
            _refuse_complex("jacrev", flat, "outputs")
            result = tree_unflatten([_rows(level, out, chunk_size) for out in flat], spec)
            return (result, level.result(aux)) if has_aux else result

    return wrapper


def _refuse_complex(api, tree, what):
    for leaf in tree_flatten(tree)[0]:
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{api}: Expected all {what} to be real but received complex tensor at flattened input idx: 0"
            )

"""Derivatives of functions as functions, backward. They nest: an inner one leaves its graph to the outer."""

import functools

import vivace
from vivace import _C, Tensor
from vivace.utils._pytree import tree_flatten, tree_map, tree_unflatten

_depth = 0  # derivatives that are being computed, one in the other


class _Level:
    """One derivative. Its inputs are aliases, so that only what the function does with them counts."""

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
                raise ValueError(f"expected tensors to differentiate by, but got {type(leaf)}")
        self._given = leaves
        self.fresh = [x.view_as(x) if x.requires_grad else _C._detach_dual(x).requires_grad_() for x in leaves]
        self._spec = spec
        return tree_unflatten(self.fresh, spec)

    def gradients(self, outputs, weights):
        """Of the outputs by the inputs, in their tree; zeros where there is no connection."""
        pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        found = [None] * len(self.fresh)
        if pairs:
            found = vivace.autograd.grad(
                [o for o, _ in pairs], self.fresh, [w for _, w in pairs], create_graph=True, allow_unused=True
            )
        found = [vivace.zeros_like(x) if g is None else g for g, x in zip(found, self._given, strict=True)]
        return tree_unflatten([self.result(g) for g in found], self._spec)

    def result(self, tree):
        """Cut off from this derivative's own inputs, unless an outer one or a tensor from outside is on the graph."""
        return tree_map(lambda t: self._cut(t) if isinstance(t, Tensor) else t, tree)

    def _cut(self, t):
        if _depth > 1:
            return t
        tangents = _C._tangents(t)
        if any(x.requires_grad for _, x in tangents):
            t = _C._with_tangents(t, [(level, self._cut(x)) for level, x in tangents])
        if not t.requires_grad or _leaves(t) - {id(x) for x in self.fresh}:
            return t
        return _C._detach_dual(t)


def _leaves(t):
    """The ids of the leaves that a tensor was computed from."""
    if t.grad_fn is None:
        return {id(t)}
    found, seen, todo = set(), set(), [t.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.add(id(node.variable))
        todo += [following for following, _ in node.next_functions]
    return found


def _chosen(args, argnums):
    """The arguments that a derivative is by."""
    if isinstance(argnums, int):
        return args[argnums]
    return tuple(args[i] for i in argnums)


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
        raise RuntimeError(f"{name}: output of function f should be a tuple (output, aux) if has_aux is True")
    return output


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func, whose output is one number, and the output."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Level() as level:
            chosen = level.inputs(_chosen(args, argnums))
            output, aux = _split_aux(func(*_with_chosen(args, argnums, chosen), **kwargs), has_aux, "grad")
            if not isinstance(output, Tensor) or output.dim() != 0:
                what = f"tensor with {output.dim()} dims" if isinstance(output, Tensor) else type(output)
                raise RuntimeError(f"grad(f)(*args): Expected f(*args) to return a scalar tensor, got {what}")
            gradient = level.gradients([output], [vivace.ones_like(output)])
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


def vjp(func, *primals, has_aux=False):
    """The output, and a function that multiplies from the left with the Jacobian there."""
    with _Level() as level:
        inputs = level.inputs(primals)
        output, aux = _split_aux(func(*inputs), has_aux, "vjp")
        flat, spec = tree_flatten(output)
        value = level.result(output)

    def multiply(cotangents, retain_graph=True, create_graph=None):
        weights, given = tree_flatten(cotangents)
        if given != spec:
            raise RuntimeError(f"Expected pytree structure of cotangents to be {spec}, but got {given}")
        with level:
            found = level.gradients(flat, weights)
        return found if len(primals) > 1 else (found[0],)

    return (value, multiply, level.result(aux)) if has_aux else (value, multiply)


def _jacobian(func, argnums, has_aux):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Level() as level:
            chosen = level.inputs(_chosen(args, argnums))
            output, aux = _split_aux(func(*_with_chosen(args, argnums, chosen), **kwargs), has_aux, "jacobian")
            flat, spec = tree_flatten(output)
            rows = [_rows(level, out) for out in flat]
            result = tree_unflatten(rows, spec)
            return (result, level.result(aux)) if has_aux else result

    return wrapper


def _rows(level, output):
    """The Jacobian of one output: by each input a tensor of the output's sizes and then the input's."""
    found = []
    for i in range(output.numel()):
        weight = vivace.zeros(output.numel(), dtype=output.dtype)
        weight[i] = 1
        found.append(level.gradients([output], [weight.reshape(output.shape)]))
    flat = [tree_flatten(row)[0] for row in found]
    joined = [
        vivace.stack(column).reshape(output.shape + x.shape)
        for column, x in zip(zip(*flat, strict=True), level.fresh, strict=True)
    ]
    return tree_unflatten(joined, level._spec)


def jacrev(func, argnums=0, has_aux=False, *, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of func, row by row."""
    return _jacobian(func, argnums, has_aux)

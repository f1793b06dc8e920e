"""torch.autograd.functional: Jacobians, Hessians and products with them, of functions of tensors.

All are made of reverse passes (a product with the Jacobian is the derivative of the transposed product), but for
Jacobians with strategy="forward-mode".
"""

import vivace
from vivace import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _as_tuple(values, what, function):
    """The tensors as a tuple, and whether they came as one."""
    if isinstance(values, Tensor):
        return (values,), False
    if not isinstance(values, tuple):
        raise TypeError(
            f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but got {values}."
        )
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the value at index "
                f"{i} has type {type(value)}."
            )
    return values, True


def _fresh(inputs, create_graph):
    """Inputs to differentiate by: apart from the caller's, but on their graph if one is being made."""
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.clone().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _unwrap(values, many, create_graph=True):
    if not create_graph:
        values = _detached(values)
    return values if many else values[0]


def _detached(values):
    return tuple(_detached(v) if isinstance(v, tuple) else v.detach() for v in values)


def _call(func, inputs, function):
    outputs, many = _as_tuple(func(*inputs), "outputs of the user-provided function", function)
    return outputs, many


def _check_vector(v, like, many, what):
    """`v`, or for None ones where a single element makes that clear, with the shapes of `like`."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {what} a single Tensor with a single element."
                if what == "the input to the user-provided function is"
                else f"The vector v can only be None if {what} a single element."
            )
        return tuple(vivace.ones_like(x) for x in like)
    v, _ = _as_tuple(v, "vector v", "this function")
    if len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    for i, (given, x) in enumerate(zip(v, like, strict=True)):
        if given.shape != x.shape:
            raise RuntimeError(
                f"v has invalid size: should be {x.shape} but got {given.shape}."
                if len(v) == 1
                else f"Entry {i} in v has invalid size: should be {x.shape} but got {given.shape}."
            )
    return v


def _grad(outputs, inputs, weights, create_graph):
    """Gradients of the outputs that have any; None for inputs that take no part."""
    pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return vivace.autograd.grad(
        [o for o, _ in pairs],
        inputs,
        [w for _, w in pairs],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def _zeros_for_none(grads, like, strict, message):
    """Zeros where there is no gradient; in strict mode an error."""
    result = []
    for i, (grad, x) in enumerate(zip(grads, like, strict=True)):
        if grad is None:
            if strict:
                raise RuntimeError(message.format(i))
            grad = vivace.zeros_like(x)
        result.append(grad)
    return tuple(result)


def _require_connected(outputs, strict):
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in "
                "a differentiable manner from the input when running in strict mode."
            )


_INDEPENDENT = (
    "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func`, and the product of the vector `v` with its Jacobian."""
    with vivace.enable_grad():
        inputs, many = _as_tuple(inputs, "inputs", "vjp")
        inputs = _fresh(inputs, create_graph)
        outputs, many_outputs = _call(func, inputs, "vjp")
        _require_connected(outputs, strict)
        v = _check_vector(v, outputs, many_outputs, "the user-provided function returns a single Tensor with")
    with vivace.set_grad_enabled(create_graph or vivace.is_grad_enabled()):
        grads = _grad(outputs, inputs, v, create_graph)
        product = _zeros_for_none(grads, inputs, strict, _INDEPENDENT)
    return _unwrap(outputs, many_outputs, create_graph), _unwrap(product, many, create_graph)


def _transposed(outputs, inputs, strict):
    """vjp as a linear function of a vector that requires grad: that vector, and the products."""
    vector = tuple(vivace.zeros_like(o, requires_grad=True) for o in outputs)
    return vector, _zeros_for_none(_grad(outputs, inputs, vector, True), inputs, strict, _INDEPENDENT)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func`, and the product of its Jacobian with the vector `v`."""
    with vivace.enable_grad():
        inputs, many = _as_tuple(inputs, "inputs", "jvp")
        inputs = _fresh(inputs, create_graph)
        v = _check_vector(v, inputs, many, "the input to the user-provided function is")
        outputs, many_outputs = _call(func, inputs, "jvp")
        _require_connected(outputs, strict)
        vector, products = _transposed(outputs, inputs, strict)
        grads = _grad(products, vector, v, create_graph)
        result = _zeros_for_none(grads, outputs, strict, _INDEPENDENT)
    return _unwrap(outputs, many_outputs, create_graph), _unwrap(result, many_outputs, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian of `func`: for each output and input a tensor of the output's shape and then the input's. By one
    reverse pass per element of the outputs, or one forward pass per element of the inputs.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, strict, vectorize)
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with vivace.enable_grad():
        inputs, many = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _fresh(inputs, create_graph)
        outputs, many_outputs = _call(func, inputs, "jacobian")
        _require_connected(outputs, strict)
        rows = tuple(_jacobian_of(i, out, inputs, create_graph, strict) for i, out in enumerate(outputs))
        if not create_graph:
            rows = _detached(rows)
        rows = rows if many else tuple(row[0] for row in rows)
    return rows if many_outputs else rows[0]


def _forward_jacobian(func, inputs, create_graph, strict, vectorize):
    message = (
        'torch.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are not supported together '
        '(yet). Please either set `{0}=False` or `strategy="reverse-mode"`.'
    )
    if create_graph:
        raise NotImplementedError(message.format("create_graph"))
    if strict:
        raise RuntimeError(message.format("strict"))
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )
    from vivace.func import jacfwd

    inputs, many = _as_tuple(inputs, "inputs", "jacobian")
    several = []

    def call(*args):
        outputs, many_outputs = _call(func, args, "jacobian")
        several.append(many_outputs)
        return outputs

    rows = _detached(jacfwd(call, tuple(range(len(inputs))))(*(x.detach() for x in inputs)))
    rows = rows if many else tuple(row[0] for row in rows)
    return rows if several[0] else rows[0]


def _jacobian_of(number, out, inputs, create_graph, strict):
    """The Jacobian of one output by each input."""
    columns = [[] for _ in inputs]
    for j in range(out.numel()):
        grads = (
            _grad((out.reshape(-1)[j],), inputs, (None,), create_graph) if out.requires_grad else [None] * len(inputs)
        )
        for i, (grad, x, column) in enumerate(zip(grads, inputs, columns, strict=True)):
            if strict and (grad is None or (create_graph and not grad.requires_grad)):
                what = "Output" if grad is None else "The jacobian of output"
                verb = "is independent of" if grad is None else "is independent of input itself, which is"
                raise RuntimeError(
                    f"{what} {number} of the user-provided function {verb} input {i}. This is not allowed in strict "
                    "mode" + (" when create_graph=True." if grad is not None else ".")
                )
            column.append(vivace.zeros_like(x) if grad is None else grad)
    return tuple(
        vivace.stack(column).view(out.shape + x.shape) if column else x.new_zeros(out.shape + x.shape)
        for column, x in zip(columns, inputs, strict=True)
    )


def _single_element(outputs, many, function):
    if many:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The Hessian of `func`, which gives a single element: for each pair of inputs a tensor of both shapes."""
    inputs, many = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def checked(*args):
        outputs, several = _call(func, args, "hessian")
        _single_element(outputs, several, "hessian")
        return outputs[0].squeeze()

    def gradient(*args):
        rows = jacobian(checked, args, create_graph=True, strict=strict)
        return rows if isinstance(rows, tuple) else (rows,)

    result = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if many else result[0][0]


def _gradient(func, inputs, strict, function):
    """The output of a function with one element, and its gradient, on the graph."""
    outputs, several = _call(func, inputs, function)
    _single_element(outputs, several, function)
    _require_connected(outputs, strict)
    grads = _grad(outputs, inputs, (vivace.ones_like(outputs[0]),), True)
    return outputs, _zeros_for_none(grads, inputs, strict, _INDEPENDENT)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output of `func`, which has a single element, and the product of `v` with its Hessian."""
    with vivace.enable_grad():
        inputs, many = _as_tuple(inputs, "inputs", "vhp")
        inputs = _fresh(inputs, create_graph)
        v = _check_vector(v, inputs, many, "the input to the user-provided function is")
        outputs, gradient = _gradient(func, inputs, strict, "vhp")
        grads = _grad(gradient, inputs, v, create_graph)
        product = _zeros_for_none(grads, inputs, strict, _INDEPENDENT)
    return _unwrap(outputs, False, create_graph), _unwrap(product, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output of `func`, which has a single element, and the product of its Hessian with `v`."""
    with vivace.enable_grad():
        inputs, many = _as_tuple(inputs, "inputs", "hvp")
        inputs = _fresh(inputs, create_graph)
        v = _check_vector(v, inputs, many, "the input to the user-provided function is")
        outputs, gradient = _gradient(func, inputs, strict, "hvp")
        vector, products = _transposed(gradient, inputs, strict)
        grads = _grad(products, vector, v, create_graph)
        result = _zeros_for_none(grads, inputs, strict, _INDEPENDENT)
    return _unwrap(outputs, False, create_graph), _unwrap(result, many, create_graph)

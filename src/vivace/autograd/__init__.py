"""torch.autograd: gradients on demand."""

import warnings

from vivace import _C
from vivace._lazy import lazily
from vivace.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from vivace.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def _as_tuple(tensors):
    # A GradientEdge is a tuple that stands for one tensor.
    if isinstance(tensors, _C.Tensor) or tensors is None or hasattr(tensors, "ownership_token"):
        return (tensors,)
    return tuple(tensors)


def _gradients(grads, count, function):
    if grads is None:
        return (None,) * count
    grads = _as_tuple(grads)
    if len(grads) != count:
        raise RuntimeError(f"{function}: got {count} tensors and {len(grads)} gradients")
    return grads


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of some tensors to `.grad` of the leaves (or of `inputs`)."""
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_variables is the old name of grad_tensors; give one of them")
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _as_tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(tensors, _gradients(grad_tensors, len(tensors), "backward"), keep, create_graph, inputs)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of `outputs`, weighted by `grad_outputs` and summed, with respect to `inputs`, as a tuple."""
    if not only_inputs:
        warnings.warn("grad: only_inputs is from older versions, and ignored", FutureWarning, stacklevel=2)
    if materialize_grads:
        if allow_unused is False:
            raise ValueError("grad: materialize_grads=True needs allow_unused=True, or none given")
        allow_unused = True
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        weights = _gradients(grad_outputs, len(outputs), "grad")
        return _batched_grad(outputs, inputs, weights, keep, create_graph, allow_unused, materialize_grads)
    weights = _gradients(grad_outputs, len(outputs), "grad")
    grads = _C.run_backward(outputs, weights, keep, create_graph, inputs, bool(allow_unused), False)
    if materialize_grads:
        grads = tuple(_zeros(x, create_graph) if g is None else g for g, x in zip(grads, inputs, strict=True))
    return grads


def _zeros(tensor, create_graph):
    """The gradient by what was not used; further derivatives may be asked of it if there is to be a graph."""
    import vivace

    return vivace.zeros_like(tensor, requires_grad=create_graph)


def _batched_grad(outputs, inputs, weights, keep, create_graph, allow_unused, materialize):
    """`grad` for each set of weights along their first dimension, in one run; the results are stacked along theirs."""
    from vivace.func import vmap

    found = []

    def run(*given):
        found[:] = grad(outputs, inputs, given, keep, create_graph, allow_unused=allow_unused or materialize)
        return tuple(g for g in found if g is not None)

    dims = tuple(None if w is None else 0 for w in weights)
    batches = iter(vmap(run, in_dims=dims)(*weights))
    return tuple(
        next(batches) if g is not None else _zeros(x, create_graph) if materialize else None
        for g, x in zip(found, inputs, strict=True)
    )


__getattr__, __dir__ = lazily(
    "vivace.autograd",
    {
        "Function": "vivace.autograd.function",
        "detect_anomaly": "vivace.autograd.anomaly_mode",
        "set_detect_anomaly": "vivace.autograd.anomaly_mode",
        "gradgradcheck": "vivace.autograd.gradcheck",
    },
    listed=False,
)

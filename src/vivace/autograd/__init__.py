"""torch.autograd: gradients on demand."""

from vivace import _C
from vivace._lazy import submodule
from vivace.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

Variable = _C.Tensor

__all__ = ["Variable", "backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]


def _as_tuple(tensors):
    return (tensors,) if isinstance(tensors, _C.Tensor) or tensors is None else tuple(tensors)


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
            raise RuntimeError("'inputs' argument to backward cannot be empty.")
    tensors = _as_tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(tensors, _gradients(grad_tensors, len(tensors), "backward"), keep, create_graph, inputs)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of `outputs`, weighted by `grad_outputs` and summed, with respect to `inputs`, as a tuple."""
    if materialize_grads:
        if allow_unused is False:
            raise ValueError("grad: materialize_grads=True needs allow_unused=True, or none given")
        allow_unused = True
    if is_grads_batched:
        raise NotImplementedError("vivace does not have is_grads_batched=True of torch.autograd.grad")
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    keep = create_graph if retain_graph is None else retain_graph
    weights = _gradients(grad_outputs, len(outputs), "grad")
    grads = _C.run_backward(outputs, weights, keep, create_graph, inputs, bool(allow_unused), False)
    if materialize_grads:
        import vivace

        grads = tuple(vivace.zeros_like(x) if g is None else g for g, x in zip(grads, inputs, strict=True))
    return grads


def __getattr__(name):
    return submodule("vivace.autograd", name)

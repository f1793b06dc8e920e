"""What optimizers that other packages write take from torch.optim.optimizer."""

import functools
from collections.abc import Iterable

import vivace

__all__ = [
    "ParamsT", "_default_to_fused_or_foreach", "_get_capturable_supported_devices", "_get_value",
    "_use_grad_for_differentiable", "_view_as_real",
]  # fmt: skip

ParamsT = Iterable[vivace.Tensor] | Iterable[dict] | Iterable[tuple[str, vivace.Tensor]]


def _use_grad_for_differentiable(step):
    """A step that is recorded if the optimizer's option `differentiable` says so."""

    @functools.wraps(step)
    def wrapped(self, *args, **kwargs):
        with vivace.set_grad_enabled(bool(self.defaults["differentiable"])):
            return step(self, *args, **kwargs)

    return wrapped


def _get_value(x):
    """A number, of a tensor too."""
    return x.item() if isinstance(x, vivace.Tensor) else x


def _view_as_real(params, *state_and_grads):
    """Puts views of pairs of real numbers in the place of complex tensors, in each of the lists."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = vivace.view_as_real(p)
            for tensors in state_and_grads:
                tensors[i] = vivace.view_as_real(tensors[i])


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """Neither fused nor foreach: here both are what a plain step costs."""
    return False, False


def _get_capturable_supported_devices(supports_xla=True):
    """Devices that record graphs of kernels, none of which is here."""
    return []


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """The lists, split by device and dtype of the tensors in the first; with their indices, or none."""
    groups = {}
    for i, row in enumerate(zip(*tensorlistlist, strict=True)):
        lists, indices = groups.setdefault((row[0].device, row[0].dtype), ([[] for _ in row], []))
        for tensors, tensor in zip(lists, row, strict=True):
            tensors.append(tensor)
        if with_indices:
            indices.append(i)
    return groups

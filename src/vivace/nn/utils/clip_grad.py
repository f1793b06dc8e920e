"""Clipping of gradients."""

import vivace

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

_NOT_FINITE = (
    "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
    "disable this "
    "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
)


def _as_list(tensors):
    return [tensors] if isinstance(tensors, vivace.Tensor) else list(tensors)


def _check_finite(total, norm_type, error_if_nonfinite):
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(_NOT_FINITE.format(norm_type))


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors as if they were one vector."""
    tensors = _as_list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return vivace.tensor(0.0)
    with vivace.no_grad():
        total = vivace.stack([t.norm(norm_type) for t in tensors]).norm(norm_type)
    _check_finite(total, norm_type, error_if_nonfinite)
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients by max_norm / total_norm where that is below 1."""
    grads = [p.grad for p in _as_list(parameters) if p.grad is not None]
    if not grads:
        return
    with vivace.no_grad():
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(scale)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients in place so that their total norm is at most max_norm; gives the norm before."""
    if isinstance(parameters, vivace.Tensor):
        parameters = [parameters]
    else:
        exhausted = iter(parameters) is parameters
        parameters = list(parameters)
        if exhausted and not parameters:
            import warnings

            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    if error_if_nonfinite:
        get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, True)
    if not all(map(vivace._C._has_plain_memory, parameters)):
        total_norm = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type)
        clip_grads_with_norm_(parameters, max_norm, total_norm)
        return total_norm
    return vivace._fused_clip_grad_norm_(parameters, float(max_norm), float(norm_type))


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of clip_grad_norm_."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamps each element of the gradients to [-clip_value, clip_value] in place."""
    limit = float(clip_value)
    with vivace.no_grad():
        for p in _as_list(parameters):
            if p.grad is not None:
                p.grad.clamp_(min=-limit, max=limit)

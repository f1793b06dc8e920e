"""Normalization: a batch of images joins the images or, where each sample has weights of its own, the channels."""

from vivace._ops import overload
from vivace.func._rules.table import rule

_layer_norm = overload("vivace::layer_norm")
_group_norm = overload("vivace::group_norm")
_batch_norm_train = overload("vivace::batch_norm_train")
_batch_norm_eval = overload("vivace::batch_norm_eval")


def _over_samples(weight, dim, out, rank):
    """A weight that belongs to the last `rank` dims, so that it broadcasts against `out`."""
    if dim is None:
        return weight
    return weight.view(weight.shape[0], *[1] * (out.dim() - 1 - rank), *weight.shape[1:])


@rule("layer_norm")
def layer_norm(info, in_dims, input, normalized_shape, weight=None, bias=None, eps=1e-05):
    in_dims = (*in_dims, None, None)
    if in_dims[0] is None:
        input = input.unsqueeze(0)
    out = _layer_norm(input, normalized_shape, None, None, eps)
    rank = len(normalized_shape)
    if weight is not None:
        out = out * _over_samples(weight, in_dims[2], out, rank)
    if bias is not None:
        out = out + _over_samples(bias, in_dims[3], out, rank)
    return out, 0


def _channels(weight, dim, out):
    spatial = [1] * (out.dim() - 3)
    return weight.view(*([weight.shape[0], 1] if dim is not None else []), -1, *spatial)


@rule("group_norm")
def group_norm(info, in_dims, input, num_groups, weight=None, bias=None, eps=1e-05):
    in_dims = (*in_dims, None, None)
    size = info.batch_size
    shared = in_dims[2] is None and in_dims[3] is None
    folded = input.flatten(0, 1) if in_dims[0] is not None else input
    out = _group_norm(folded, num_groups, *((weight, bias) if shared else (None, None)), eps)
    out = out.unflatten(0, (size, -1)) if in_dims[0] is not None else out.unsqueeze(0)
    if not shared:
        out = out if weight is None else out * _channels(weight, in_dims[2], out)
        out = out if bias is None else out + _channels(bias, in_dims[3], out)
    return out, 0


def _in_channels(t, dim, size):
    if dim is None:
        t = t.unsqueeze(0).expand(size, *t.shape)
    return t.movedim(0, 1).flatten(1, 2)


def _of_channels(t, dim, size):
    """A tensor (C) of each sample as (B * C)."""
    if t is None:
        return None
    return t.repeat(size) if dim is None else t.flatten()


@rule("batch_norm_train")
def batch_norm_train(info, in_dims, input, weight, bias, running_mean, running_var, momentum, eps):
    size = info.batch_size
    for running, dim in ((running_mean, in_dims[3]), (running_var, in_dims[4])):
        if running is not None and dim is None:
            raise RuntimeError(
                "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
                "in place, were not batched.\n"
                "If you are using a module and do not need eval mode, please set `track_running_stats` to be False."
                "If you are using a prebuilt module and do not need eval mode, please see the functorch website for "
                "resources on how to patch your module to work with vmap"
            )
    means = None if running_mean is None else running_mean.reshape(-1)
    variances = None if running_var is None else running_var.reshape(-1)
    out = _batch_norm_train(
        _in_channels(input, in_dims[0], size),
        _of_channels(weight, in_dims[1], size),
        _of_channels(bias, in_dims[2], size),
        means,
        variances,
        momentum,
        eps,
    )
    for running, flat in ((running_mean, means), (running_var, variances)):
        if running is not None and not running.is_contiguous():
            running.copy_(flat.view(running.shape))
    return out.unflatten(1, (size, -1)).movedim(1, 0), 0


@rule("batch_norm_eval")
def batch_norm_eval(info, in_dims, input, weight, bias, running_mean, running_var, eps):
    size = info.batch_size
    if in_dims[0] is not None and all(d is None for d in in_dims[1:5]):
        out = _batch_norm_eval(input.flatten(0, 1), weight, bias, running_mean, running_var, eps)
        return out.unflatten(0, (size, -1)), 0
    channels = [
        _of_channels(t, d, size) for t, d in zip((weight, bias, running_mean, running_var), in_dims[1:5], strict=True)
    ]
    out = _batch_norm_eval(_in_channels(input, in_dims[0], size), *channels, eps)
    return out.unflatten(1, (size, -1)).movedim(1, 0), 0

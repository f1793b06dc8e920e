"""Convolutions: the batch joins the images where the weights are shared, else the groups."""

from vivace._ops import overload
from vivace.func._rules.table import rule

_conv = overload("vivace::conv")
_conv_input_grad = overload("vivace::conv_input_grad")
_conv_weight_grad = overload("vivace::conv_weight_grad")


def _in_channels(t, dim, size):
    """(N, C, ...) of all samples as (N, B * C, ...)."""
    if dim is None:
        t = t.unsqueeze(0).expand(size, *t.shape)
    return t.movedim(0, 1).flatten(1, 2)


def _from_channels(t, size):
    """The reverse, with the batch in front."""
    return t.unflatten(1, (size, t.shape[1] // size)).movedim(1, 0)


def _in_rows(t, dim, size):
    """A weight (O, I, ...) of all samples as (B * O, I, ...)."""
    if dim is None:
        t = t.unsqueeze(0).expand(size, *t.shape)
    return t.flatten(0, 1)


def _from_rows(t, size):
    return t.unflatten(0, (size, t.shape[0] // size))


def _with_bias(out, bias, dim):
    if bias is None:
        return out, 0
    spatial = [1] * (out.dim() - 3)
    if dim is None:
        return out + bias.view(-1, *spatial), 0
    return out + bias.view(bias.shape[0], 1, -1, *spatial), 0


@rule("conv")
def conv(info, in_dims, x, weight, bias, stride, padding, dilation, groups):
    size = info.batch_size
    geometry = (stride, padding, dilation)
    if in_dims[1] is None and in_dims[0] is not None:
        shared = bias if in_dims[2] is None else None
        out = _from_rows(_conv(x.flatten(0, 1), weight, shared, *geometry, groups), size)
        return (out, 0) if in_dims[2] is None else _with_bias(out, bias, 0)
    if in_dims[0] is None and groups == 1 and in_dims[1] is not None:
        out = _from_channels(_conv(x, weight.flatten(0, 1), None, *geometry, 1), size)
        return _with_bias(out, bias, in_dims[2])
    if in_dims[0] is None and in_dims[1] is None:
        return _with_bias(_conv(x, weight, None, *geometry, groups).unsqueeze(0), bias, 0)
    x, weight = _in_channels(x, in_dims[0], size), _in_rows(weight, in_dims[1], size)
    if bias is not None and in_dims[2] == 0:
        return _from_channels(_conv(x, weight, bias.flatten(), *geometry, groups * size), size), 0
    return _with_bias(_from_channels(_conv(x, weight, None, *geometry, groups * size), size), bias, in_dims[2])


@rule("conv_input_grad")
def conv_input_grad(info, in_dims, grads, weight, input_sizes, stride, padding, dilation, groups):
    size = info.batch_size
    geometry = (stride, padding, dilation)
    n, channels, *spatial = input_sizes
    if in_dims[1] is None:
        out = _conv_input_grad(grads.flatten(0, 1), weight, [size * n, channels, *spatial], *geometry, groups)
        return _from_rows(out, size), 0
    grads, weight = _in_channels(grads, in_dims[0], size), _in_rows(weight, in_dims[1], size)
    out = _conv_input_grad(grads, weight, [n, size * channels, *spatial], *geometry, groups * size)
    return _from_channels(out, size), 0


@rule("conv_weight_grad")
def conv_weight_grad(info, in_dims, grads, x, weight_sizes, stride, padding, dilation, groups):
    size = info.batch_size
    grads, x = _in_channels(grads, in_dims[0], size), _in_channels(x, in_dims[1], size)
    sizes = [size * weight_sizes[0], *weight_sizes[1:]]
    return _from_rows(_conv_weight_grad(grads, x, sizes, stride, padding, dilation, groups * size), size), 0

"""A layer and the batch normalization behind it as one layer, for models that are not trained any more."""

import copy

import vivace
from vivace.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(weight, bias, mean, var, eps, scale, shift, shape):
    """Weight and bias of the one layer; `shape` lays a value for each output along the weight."""
    factor = vivace.rsqrt(var + eps)
    if scale is not None:
        factor = factor * scale
    start = -mean if bias is None else bias - mean
    fused_bias = start * factor if shift is None else start * factor + shift
    return (
        Parameter((weight * factor.reshape(shape)).to(weight.dtype), weight.requires_grad),
        Parameter(fused_bias.to(weight.dtype if bias is None else bias.dtype), weight.requires_grad),
    )


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of a convolution that does what one and its batch normalization do."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of a linear layer that does what one and its batch normalization do."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fuse(layer, bn, weights):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution in place of one and its batch normalization, both in evaluation mode."""
    return _fuse(conv, bn, lambda *values: fuse_conv_bn_weights(*values, transpose))


def fuse_linear_bn_eval(linear, bn):
    """A linear layer in place of one and its batch normalization, both in evaluation mode."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fuse(linear, bn, fuse_linear_bn_weights)

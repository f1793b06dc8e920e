"""Layers and losses that PyTorch's torch namespace repeats in another signature than nn.functional's: positional, no
options, reductions as numbers (1 mean, 2 sum; without one, none). They load when first called.
"""

import vivace
from vivace.nn import functional as F


def _reduction(number):
    return {1: "mean", 2: "sum"}.get(number, "none")  # 0, for which PyTorch takes any other number


# ---- losses


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight
    )


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def kl_div(input, target, reduction=0, *, log_target=False):
    kind = _reduction(reduction)
    loss = F.kl_div(input, target, reduction="none", log_target=log_target)
    return loss if kind == "none" else getattr(loss, kind)()


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


# ---- layers


def adaptive_max_pool1d(input, output_size):
    return F.adaptive_max_pool1d(input, output_size, return_indices=True)


def max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return F.max_pool1d(input, kernel_size, stride or None, padding, dilation, ceil_mode, return_indices=True)


def affine_grid_generator(theta, size, align_corners):
    return F.affine_grid(theta, size, align_corners)


def conv_tbc(input, weight, bias, pad=0):
    """conv1d of (time, batch, channels) with weights of (width, channels in, channels out)."""
    return F.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    dims = weight.dim() - 2
    if transposed:
        function = getattr(F, f"conv_transpose{dims}d")
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(F, f"conv{dims}d")(input, weight, bias, stride, padding, dilation, groups)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


@vivace.no_grad()
def embedding_renorm_(input, indices, max_norm, norm_type):
    F.embedding(indices, input, max_norm=max_norm, norm_type=norm_type)
    return input


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def native_channel_shuffle(input, groups):
    return F.channel_shuffle(input, groups)


# ---- dropout


def dropout_(input, p, train):
    return F.dropout(input, p, train, inplace=True)


def alpha_dropout_(input, p, train):
    return F.alpha_dropout(input, p, train, inplace=True)


def feature_alpha_dropout_(input, p, train):
    return F.feature_alpha_dropout(input, p, train, inplace=True)


def _channels(input, p):
    """1 / (1 - p) for the channels that stay, 0 for the others."""
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if p == 1:
        return input.new_zeros(())
    return input.new_empty((*input.shape[:2], *[1] * (input.dim() - 2))).bernoulli_(1 - p).div_(1 - p)


def feature_dropout(input, p, train):
    """Sets channels to zero by chance, and scales the others."""
    return input * _channels(input, p) if train and p and input.numel() else input


def feature_dropout_(input, p, train):
    """feature_dropout(), in place."""
    return input.mul_(_channels(input, p)) if train and p and input.numel() else input


def native_dropout(input, p, train):
    """The result and the mask of what stays."""
    if not train and train is not None:
        return input, vivace.ones_like(input, dtype=vivace.bool)
    kept = vivace.empty_like(input).bernoulli_(1 - p)
    return input * kept * (0.0 if p == 1 else 1 / (1 - p)), kept.bool()


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    if generator is not None:
        raise NotImplementedError("vivace draws the slopes of rrelu_() from the default generator only")
    return F.rrelu(input, lower, upper, training, inplace=True)


# ---- norms


def frobenius_norm(input, dim, keepdim=False, *, out=None):
    result = vivace.linalg.vector_norm(input, 2, dim, keepdim)
    return result if out is None else out.resize_as_(result).copy_(result)


def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    result = vivace.linalg.matrix_norm(input, "nuc", dim, keepdim)
    return result if out is None else out.resize_as_(result).copy_(result)


def norm_except_dim(v, pow=2, dim=0):
    """The norms of the slices along a dim, in the shape that broadcasts; dim -1: of the whole."""
    if dim == -1:
        return v.norm(pow)
    return v.norm(pow, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True)

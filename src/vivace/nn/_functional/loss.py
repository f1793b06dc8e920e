"""Losses that are compositions of other operators."""

import vivace

from .._reduction import get_enum, legacy_get_string
from . import native as _nn
from ._autocast import in_float32
from .vectors import pairwise_distance

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "kl_div",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "poisson_nll_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def _resolve(size_average, reduce, reduction):
    if size_average is not None or reduce is not None:
        reduction = legacy_get_string(size_average, reduce)
    get_enum(reduction)
    return reduction


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.mean()


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification of log-probabilities (T, N, C) (Graves et al., 2006)."""
    return vivace.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, get_enum(reduction), zero_infinity)


@in_float32
def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """exp(x) - target * x (x - target * log(x) without log_input); `full` adds Stirling's term."""
    reduction = _resolve(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * vivace.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """0.5 * (log(var) + (input - target)**2 / var), with var at least eps."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * vivace.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)  # one variance for all values of a sample
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    with vivace.no_grad():
        safe = var.clone().clamp_(min=eps)
    var = var + (safe - var).detach()  # clamped in value, not in gradient
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        import math

        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, reduction)


@in_float32
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input) of log-probabilities; 'batchmean' divides by the batch, as the divergence does."""
    batch_mean = False
    if size_average is not None or reduce is not None:
        reduction = legacy_get_string(size_average, reduce)
    elif reduction == "batchmean":
        batch_mean, reduction = True, "sum"
    elif reduction == "mean":
        import warnings

        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition. 'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    get_enum(reduction)
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = vivace.xlogy(target, target) - target * input
    loss = _reduced(loss, reduction)
    return loss / input.size(0) if batch_mean and input.dim() != 0 else loss


@in_float32
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1."""
    reduction = _resolve(size_average, reduce, reduction)
    zero = vivace.zeros_like(input)
    loss = vivace.where(target != 1, (margin - input).clamp(min=0), zero) + vivace.where(target != -1, input, zero)
    return _reduced(loss, reduction)


@in_float32
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * x)) of targets 1 and -1."""
    reduction = _resolve(size_average, reduce, reduction)
    return _reduced(_nn.softplus(-target * input), reduction)


@in_float32
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)"""
    reduction = _resolve(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


@in_float32
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - margin) where it is -1."""
    reduction = _resolve(size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.size() != input2.size():
        raise RuntimeError(
            "cosine_embedding_loss: expects input tensors of the same size, but got "
            f"input1.size()={tuple(input1.size())}, input2.size()={tuple(input2.size())}"
        )
    epsilon = 1e-12
    dot = (input1 * input2).sum(target.dim())
    norms = ((input1 * input1).sum(target.dim()) + epsilon) * ((input2 * input2).sum(target.dim()) + epsilon)
    cosine = dot / norms.sqrt()
    zero = vivace.zeros_like(cosine)
    loss = vivace.where(target == 1, 1 - cosine, zero) + vivace.where(
        target == -1, (cosine - margin).clamp(min=0), zero
    )
    return _reduced(loss, reduction)


@in_float32
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """multi_margin_loss for several classes per sample, listed in the target up to the first -1."""
    reduction = _resolve(size_average, reduce, reduction)
    if input.dim() > 2 or input.numel() == 0 and (input.dim() < 2 or input.size(1) == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    scores = input.reshape(1, -1) if input.dim() < 2 else input
    labels = target.reshape(1, -1) if target.dim() < 2 else target
    valid = (labels < 0).cumsum(1) == 0  # the labels end at the first negative one
    index = labels.clamp(min=0)
    is_target = vivace.zeros_like(scores).scatter_add(1, index, valid.to(scores.dtype)) > 0
    wanted = scores.gather(1, index)
    violation = ((1 - wanted).unsqueeze(2) + scores.unsqueeze(1)).clamp(min=0)
    counted = valid.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = vivace.where(counted, violation, 0).sum((1, 2)) / scores.size(1)
    return _reduced(loss.squeeze(0) if input.dim() < 2 else loss, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes of binary cross entropy of sigmoid(x)."""
    reduction = _resolve(size_average, reduce, reduction)
    loss = -(target * _nn.logsigmoid(input) + (1 - target) * _nn.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.mean(-1), reduction)


@in_float32
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Sum over other classes of max(0, margin - x[target] + x[class])**p, over the number of classes."""
    reduction = _resolve(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    scores = input.reshape(1, -1) if input.dim() < 2 else input
    index = target.reshape(-1, 1)
    violation = (margin - scores.gather(1, index) + scores).clamp(min=0)
    if p == 2:
        violation = violation.square()
    loss = violation.scatter(1, index, 0).mean(1)
    if weight is not None:
        loss = loss * weight[target.reshape(-1)]
    return _reduced(loss.squeeze(0) if input.dim() < 2 and target.dim() == 0 else loss, reduction)


@in_float32
def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
    reduction="mean",
):  # fmt: skip
    """max(0, |anchor - positive| - |anchor - negative| + margin) of distances with norm p."""
    reduction = _resolve(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(x, y):
        return pairwise_distance(x, y, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with a distance function of one's own."""
    get_enum(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    far = distance(anchor, negative)
    if swap:
        far = vivace.minimum(far, distance(positive, negative))
    return _reduced((margin + distance(anchor, positive) - far).clamp(min=0), reduction)


@in_float32
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(x) + (1 - target) * log(1 - x)) of probabilities, which must lie in [0, 1]."""
    reduction = _resolve(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. "
            "Please ensure they have the same size."
        )
    if ((input < 0) | (input > 1)).any():
        raise RuntimeError("binary_cross_entropy: all elements of input should be between 0 and 1")
    loss = _nn._binary_cross_entropy(input, target)
    return _reduced(loss if weight is None else loss * weight, reduction)


@in_float32
def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """binary_cross_entropy(sigmoid(x), target), computed safely; pos_weight weighs positives."""
    reduction = _resolve(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    log = _nn.logsigmoid(input)
    loss = (1 - target) * input - (log if pos_weight is None else ((pos_weight - 1) * target + 1) * log)
    return _reduced(loss if weight is None else loss * weight, reduction)

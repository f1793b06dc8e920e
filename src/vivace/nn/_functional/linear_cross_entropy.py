"""Cross entropy of a linear layer's output, whole or in chunks of rows whose logits backward computes again."""

import warnings

import vivace

from . import native as _nn

__all__ = ["linear_cross_entropy"]

_REDUCTIONS = ("mean", "sum", "none")


def _check(input, linear_weight, target, linear_bias, ignore_index):
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if ignore_index is not None and tuple(target.shape) == (*input.shape[:-1], *outputs):
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def _logits(input, linear_weight, linear_bias):
    bias = None if linear_bias is None else linear_bias.flatten()
    logits = vivace.nn.functional.linear(input, linear_weight.flatten(0, -2), bias)
    return logits.reshape(*input.shape[:-1], *linear_weight.shape[:-1])


def _in_chunks(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, rows):
    """The loss of each chunk by itself; only one chunk's logits exist at a time, in backward, too."""
    from vivace.utils.checkpoint import checkpoint

    part = "none" if reduction == "none" else "sum"

    def loss(x, t):
        logits = _logits(x, linear_weight, linear_bias)
        return _nn.cross_entropy(logits, t, weight=weight, ignore_index=ignore_index, reduction=part)

    losses = [
        checkpoint(loss, x, t, use_reentrant=False, preserve_rng_state=False)
        for x, t in zip(input.split(rows), target.split(rows), strict=True)
    ]
    if reduction == "none":
        return vivace.cat(losses)
    total = sum(losses[1:], losses[0])
    if reduction == "sum":
        return total
    counted = target != ignore_index
    shares = counted.to(total.dtype) if weight is None else weight[target.where(counted, 0)] * counted
    return total / shares.sum()


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy(linear(input, linear_weight, linear_bias), target) without keeping all logits at once."""
    _check(input, linear_weight, target, linear_bias, ignore_index)
    ignore_index = -100 if ignore_index is None else ignore_index
    if options is not None:
        if (
            linear_weight.dim() == 2
            and reduction in _REDUCTIONS
            and label_smoothing == 0.0
            and target.dtype == vivace.int64
        ):
            batch = (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.unsqueeze(0))
            rows = options.rows(len(batch[0]), input.shape[-1], len(linear_weight))
            result = _in_chunks(batch[0], linear_weight, batch[1], linear_bias, weight, reduction, ignore_index, rows)
            return result if input.dim() == 2 or reduction != "none" else result.squeeze(0)
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            "label_smoothing == 0, target.dtype == int64, out_features == ().",
            stacklevel=2,
        )
    return _nn.cross_entropy(
        _logits(input, linear_weight, linear_bias),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )

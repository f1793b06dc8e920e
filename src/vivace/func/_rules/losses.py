"""Losses: each element's, and what the reduction makes of a sample's."""

from vivace._ops import overload
from vivace.func._rules.shapes import aligned
from vivace.func._rules.table import rule

_REDUCTION = {"mse_loss": 4, "l1_loss": 4, "smooth_l1_loss": 4, "huber_loss": 2}
_WEIGHTED = {"mse_loss": 5, "l1_loss": 5, "huber_loss": 4}


def _reduction(given, size_average, reduce):
    if size_average is None and reduce is None:
        return given
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def _samples(loss, reduction, weight=None):
    """The reduction of each sample; `weight` stands for the elements in a mean."""
    dims = tuple(range(1, loss.dim()))
    if reduction == "none" or not dims:
        return loss
    if reduction == "sum":
        return loss.sum(dims)
    return loss.mean(dims) if weight is None else loss.sum(dims) / weight.expand(loss.shape).sum(dims)


def _pair_loss(name):
    op = overload(f"vivace::{name}")
    at, weight_at = _REDUCTION[name], _WEIGHTED.get(name)

    @rule(name)
    def call(info, in_dims, *args):
        defaults = [None, None, "mean"][3 - (at - 1) :] if at == 4 else ["mean"]
        args = [*args, *defaults[len(args) - 2 :]]
        tensors = [0, 1] + ([weight_at] if weight_at is not None and len(args) > weight_at else [])
        tensors = [k for k in tensors if args[k] is not None]
        rank = max(args[k].dim() - (in_dims[k] is not None) for k in tensors)
        for k in tensors:
            args[k] = aligned(args[k], rank) if in_dims[k] is not None else args[k]
        reduction = args[at]
        if at == 4:
            reduction = _reduction(reduction, args[2], args[3])
            args[2] = args[3] = None
        args[at] = "none"
        weight = args[weight_at] if len(tensors) == 3 else None
        return _samples(op(*args), reduction, weight), 0


for _name in _REDUCTION:
    _pair_loss(_name)


def _class_loss(name):
    """A loss of scores (N, C, ...) or (C) and classes: the batch joins N."""
    op = overload(f"vivace::{name}")

    @rule(name)
    def call(info, in_dims, input, target, weight, ignore_index, reduction, *rest):
        if in_dims[2] is not None:
            return NotImplemented
        size = info.batch_size
        input, target = (
            t if d is not None else t.unsqueeze(0).expand(size, *t.shape)
            for t, d in zip((input, target), in_dims[:2], strict=True)
        )
        one = input.dim() == 2
        folded = (input, target) if one else (input.flatten(0, 1), target.flatten(0, 1))
        loss = op(*folded, weight, ignore_index, "none", *rest)
        loss = loss if one else loss.unflatten(0, (size, -1))
        if reduction != "mean":
            return _samples(loss, reduction), 0
        counted = target != ignore_index
        if weight is None:
            share = counted.to(loss.dtype)
        else:
            share = weight[target.where(counted, 0)] * counted
        dims = tuple(range(1, loss.dim()))
        return (loss.sum(dims) / share.sum(dims) if dims else loss / share), 0


_class_loss("cross_entropy_index")
_class_loss("nll_loss_index")

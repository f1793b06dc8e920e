"""torch.segment_reduce: reductions of runs along a dimension, which lie one after the other."""

import math

import vivace

__all__ = ["segment_reduce"]

_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
_OLD_NAMES = {"max": "amax", "min": "amin"}


def segment_reduce(
    data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None
):  # fmt: skip
    """Sum, mean, prod, max or min of each segment of dimension `axis`, whose lengths or offsets come for all of the
    dimensions before it. A segment without elements gives `initial`, or what the reduction starts from (mean: NaN).
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    reduce = _OLD_NAMES.get(reduce, reduce)
    if reduce not in _START:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None:
        lengths = offsets.diff(dim=-1)
    batch, length = data.shape[: lengths.dim() - 1], data.shape[lengths.dim() - 1]
    if lengths.shape[:-1] != batch or axis % data.dim() != len(batch):
        raise RuntimeError(
            f"segment_reduce(): lengths of sizes {list(lengths.shape)} do not fit axis {axis} of data of sizes "
            f"{list(data.shape)}"
        )
    if not unsafe:
        if (lengths < 0).any():
            raise RuntimeError("lengths contains negative value!")
        if (lengths.sum(-1) != length).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe."
            )
    rest = data.shape[len(batch) + 1 :]
    rows = data.reshape(-1, *rest)
    segments = vivace.arange(lengths.numel(), device=data.device).repeat_interleave(lengths.reshape(-1))
    result = _reduced(rows, segments, lengths.reshape(-1), reduce, initial)
    return result.reshape(*batch, lengths.shape[-1], *rest)


def _reduced(rows, segments, lengths, reduce, initial):
    start = rows.new_full((len(lengths), *rows.shape[1:]), _START[reduce] if initial is None else initial)
    if reduce in ("sum", "mean"):
        total = start.index_add(0, segments, rows)
        if reduce == "sum":
            return total
        counts = lengths if initial is None else lengths.clamp(min=1)
        return total / counts.reshape(-1, *[1] * (rows.dim() - 1))
    places = segments.reshape(-1, *[1] * (rows.dim() - 1)).expand_as(rows)
    return start.scatter_reduce(0, places, rows, reduce)

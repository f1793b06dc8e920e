"""torch.histogramdd, in a module of its own since few programs use it and named tuples take long to import."""

import collections

import vivace
from vivace._C import overridable

_Histogramdd = collections.namedtuple("histogramdd", ("hist", "bin_edges"))


@overridable
def histogramdd(input, bins, range=None, weight=None, density=False):
    """How many points (rows of the last dim) fall into each box of a grid, or the sum of their weights."""
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    dims = input.shape[-1]
    points = input.reshape(-1, dims)
    bins = [bins] * dims if isinstance(bins, int) else list(bins)
    if len(bins) != dims:
        raise RuntimeError(
            f"torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got "
            f"{len(bins)}"
        )
    if range is not None and len(range) != 2 * dims:
        raise RuntimeError(f"torch.histogramdd: range should have {2 * dims} elements, but got {len(range)}")
    edges = []
    for d, n in enumerate(bins):
        if isinstance(n, vivace.Tensor):
            edges.append(n)
            continue
        own = None if range is None else range[2 * d : 2 * d + 2]
        edges.append(vivace.histogram(points[:, d], n, range=own).bin_edges)
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
    counts = vivace._histogram(points, edges, None if weight is None else weight.reshape(-1))
    if density:
        counts = counts / counts.sum()
        for d, e in enumerate(edges):
            counts = counts / e.diff().reshape([1] * d + [-1] + [1] * (dims - d - 1))
    return _Histogramdd(counts, tuple(edges))

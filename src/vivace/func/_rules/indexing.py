"""Indices: a batch of them picks in each sample."""

import vivace
from vivace.func._rules.refused import refuse_dynamic
from vivace.func._rules.table import decomposed, rule


def _rows(size, rank):
    """0, 1, ... of the samples, to stand beside indices with `rank` dims."""
    return vivace.arange(size).view(size, *[1] * rank)


def _expanded(t, dim, size):
    return t if dim is not None else t.unsqueeze(0).expand(size, *t.shape)


class _Indices:
    """What stands between the brackets, for physical tensors."""

    def __init__(self, indices, dims):
        self.any_batched = any(d is not None for d in dims)
        found = []
        for index, d in zip(indices, dims, strict=True):
            if index is None or index.dtype not in (vivace.bool, vivace.uint8):
                found.append((index, d))
            elif d is not None:
                raise RuntimeError(
                    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch "
                    "over indexing with a boolean mask."
                )
            else:
                found += [(part, None) for part in index.nonzero(as_tuple=True)]
        while found and found[-1][0] is None:
            found.pop()
        ranks = [i.dim() - (d is not None) for i, d in found if i is not None]
        self.rank = max(ranks)
        self.items = [
            i if d is None else i.view(i.shape[0], *[1] * (self.rank - i.dim() + 1), *i.shape[1:]) for i, d in found
        ]
        places = [k for k, i in enumerate(self.items) if i is not None]
        self.count = len(places)
        self.together = places == list(range(places[0], places[-1] + 1))
        self.first = places[0]

    def with_rows(self, size):
        return [_rows(size, self.rank), *self.items]

    def lead_after_index(self):
        """How many dims stand before the indices in a sample's result, where physically they stand behind them."""
        return self.first if self.together else 0


@rule("index.Tensor")
def index(info, in_dims, self, indices):
    given = _Indices(indices, in_dims[1])
    rank = given.rank
    if in_dims[0] is not None and given.any_batched:
        out = self[tuple(given.with_rows(info.batch_size))] if given.first == 0 else _get(self, given, info)
        lead = given.lead_after_index()
        if lead and rank:
            out = out.movedim(tuple(range(1, rank + 1)), tuple(range(1 + lead, 1 + lead + rank)))
        return out, 0
    if in_dims[0] is not None:
        out = self[tuple(slice(None) if i is None else i for i in (None, *given.items))]
        return out, 0 if given.together else rank
    out = self[tuple(slice(None) if i is None else i for i in given.items)]
    return out, given.first if given.together else 0


def _get(self, given, info):
    return self[tuple(slice(None) if i is None else i for i in given.with_rows(info.batch_size))]


def _put(info, in_dims, self, indices, values, accumulate, in_place):
    given = _Indices(indices, in_dims[1])
    self = _expanded(self, in_dims[0], info.batch_size)
    lead, rank = given.lead_after_index(), given.rank
    result_rank = rank + self.dim() - 1 - given.count
    if in_dims[2] is not None:
        ones = [1] * (result_rank - values.dim() + 1)
        values = values.view(values.shape[0], *ones, *values.shape[1:])
    elif lead and rank:
        values = values.view(1, *[1] * (result_rank - values.dim()), *values.shape)
    if lead and rank:
        values = values.movedim(tuple(range(1 + lead, 1 + lead + rank)), tuple(range(1, rank + 1)))
    full = given.with_rows(info.batch_size)
    return self.index_put_(full, values, accumulate) if in_place else self.index_put(full, values, accumulate)


@rule("index_put")
def index_put(info, in_dims, self, indices, values, accumulate=False):
    return _put(info, in_dims, self, indices, values, accumulate, False), 0


@rule("index_put_")
def index_put_(info, in_dims, self, indices, values, accumulate=False):
    _put(info, in_dims, self, indices, values, accumulate, True)


def _along(index, dim, like):
    """A batch of indices (B, n) as gather takes it: along a dim of `like`, the same for all other places."""
    shape = [1] * like.dim()
    shape[0], shape[dim] = index.shape[0], -1
    index = index.reshape(shape)
    return index.expand(*(index.shape[d] if d in (0, dim) else n for d, n in enumerate(like.shape)))


def _physical_dim(self, dim):
    rank = self.dim() - 1
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(rank, 1)}, {max(rank, 1) - 1}], but got {dim})"
        )
    return dim % max(rank, 1) + 1


@rule("index_select")
def index_select(info, in_dims, self, dim, index):
    self = _expanded(self, in_dims[0], info.batch_size)
    scalar = self.dim() == 1
    self = self.unsqueeze(1) if scalar else self
    dim = _physical_dim(self, dim)
    index = index.unsqueeze(1) if index.dim() == 1 else index
    out = self.gather(dim, _along(index, dim, self))
    return out.squeeze(1) if scalar else out, 0


@rule("index_add")
def index_add(info, in_dims, self, dim, index, source, *, alpha=1):
    self, source = _expanded(self, in_dims[0], info.batch_size), _expanded(source, in_dims[3], info.batch_size)
    index = _expanded(index, in_dims[2], info.batch_size)
    dim = _physical_dim(self, dim)
    return self.scatter_add(dim, _along(index, dim, source), source if alpha == 1 else source * alpha), 0


@rule("index_copy")
def index_copy(info, in_dims, self, dim, index, source):
    self, source = _expanded(self, in_dims[0], info.batch_size), _expanded(source, in_dims[3], info.batch_size)
    index = _expanded(index, in_dims[2], info.batch_size)
    dim = _physical_dim(self, dim)
    return self.scatter(dim, _along(index, dim, source), source), 0


@rule("index_fill.int_Scalar")
def index_fill(info, in_dims, self, dim, index, value):
    self, index = _expanded(self, in_dims[0], info.batch_size), _expanded(index, in_dims[2], info.batch_size)
    dim = _physical_dim(self, dim)
    return self.scatter(dim, _along(index % self.shape[dim], dim, self), value), 0


@rule("index_fill.int_Tensor")
def index_fill_tensor(info, in_dims, self, dim, index, value):
    self, index = _expanded(self, in_dims[0], info.batch_size), _expanded(index, in_dims[2], info.batch_size)
    dim = _physical_dim(self, dim)
    index = _along(index % self.shape[dim], dim, self)
    value = _expanded(value, in_dims[3], info.batch_size).to(self.dtype)
    return self.scatter(dim, index, value.view(-1, *[1] * (index.dim() - 1)).expand(index.shape)), 0


@rule("take")
def take(info, in_dims, self, index):
    if in_dims[0] is None:
        return self.take(index), 0
    flat = self.reshape(info.batch_size, -1)
    if in_dims[1] is None:
        return flat[:, index], 0
    return flat.gather(1, index.reshape(info.batch_size, -1) % max(flat.shape[1], 1)).view(index.shape), 0


@rule("put")
def put(info, in_dims, self, index, source, accumulate=False):
    shape = self.shape[(in_dims[0] is not None) :]
    self, index, source = (
        _expanded(t, d, info.batch_size).reshape(info.batch_size, -1)
        for t, d in zip((self, index, source), in_dims[:3], strict=True)
    )
    index = index % max(self.shape[1], 1)
    out = self.scatter_add(1, index, source) if accumulate else self.scatter(1, index, source)
    return out.view(-1, *shape), 0


@rule("masked_select")
def masked_select(info, in_dims, self, mask):
    if in_dims[1] is not None:
        refuse_dynamic("masked_select")
    shape = vivace.broadcast_shapes(self.shape[1:], mask.shape)
    self = self.view(self.shape[0], *[1] * (len(shape) + 1 - self.dim()), *self.shape[1:])
    return self.expand(-1, *shape)[(slice(None), mask.expand(shape))], 0


@decomposed("masked_scatter")
def masked_scatter(self, mask, source):
    mask = mask.expand(self.shape)
    which = mask.reshape(-1).cumsum(0) - 1
    picked = source.reshape(-1)[which.clamp(0)].view(self.shape)
    return picked.where(mask, self)


@rule("embedding")
def embedding(
    info, in_dims, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, by_count=False, sparse=False
):
    if max_norm is not None or sparse:
        return NotImplemented
    weight = weight.flatten(0, 1)
    rows = weight.shape[0] // info.batch_size
    index = _expanded(input, in_dims[0], info.batch_size)
    out = weight[index + rows * _rows(info.batch_size, index.dim() - 1)]
    if by_count:  # the same numbers, with gradients that are divided by how often a sample asks for the row
        flat = index.flatten(1)
        count = (flat.unsqueeze(2) == flat.unsqueeze(1)).sum(2).view(index.shape)
        out = out.detach() + (out - out.detach()) / count.unsqueeze(-1)
    if padding_idx is not None:
        padding = (index == padding_idx % rows).unsqueeze(-1)
        out = out.detach().where(padding, out)
    return out, 0

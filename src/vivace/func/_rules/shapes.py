"""Views and copies that letters can't describe."""

from vivace._ops import overload
from vivace.func._rules.table import decomposed, rule


@decomposed("t")
def t(self):
    if self.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return self.transpose(0, 1) if self.dim() == 2 else self.view(self.shape)


def _unit_dims(physical):
    return [d for d, size in enumerate(physical.shape) if d > 0 and size == 1]


@rule("squeeze")
def squeeze(info, in_dims, self):
    return self.squeeze(_unit_dims(self)), 0


@rule("squeeze_")
def squeeze_(info, in_dims, self):
    self.squeeze_(_unit_dims(self))


@rule("t_")
def t_(info, in_dims, self):
    if self.dim() == 3:
        self.transpose_(1, 2)


def aligned(physical, rank):
    """With ones behind the batch, so that samples have `rank` dims."""
    return physical[(slice(None), *[None] * (rank + 1 - physical.dim()))]


@rule("repeat")
def repeat(info, in_dims, self, repeats):
    return aligned(self, len(repeats)).repeat(1, *repeats), 0


@rule("roll")
def roll(info, in_dims, self, shifts, dims=()):
    if not dims:
        if self.dim() == 1:
            return self.clone(), 0
        return self.flatten(1).roll(shifts, 1).view(self.shape), 0
    rank = max(self.dim() - 1, 1)
    if self.dim() == 1:
        return self.unsqueeze(1).roll(shifts, [d % rank + 1 for d in dims]).squeeze(1), 0
    return self.roll(shifts, [d % rank + 1 for d in dims]), 0


@decomposed("fill.Tensor")
def fill(self, value):
    return value.to(self.dtype).expand(self.shape).clone()


@decomposed("fill_.Tensor")
def fill_(self, value):
    return self.copy_(value)


@rule("trace")
def trace(info, in_dims, self):
    return self.diagonal(0, 1, 2).sum(-1), 0


@rule("unfold")
def unfold(info, in_dims, self, dimension, size, step):
    rank = self.dim() - 1
    if rank == 0:
        return self.unsqueeze(1).unfold(1, size, step).squeeze(1), 0
    if not -rank <= dimension < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dimension})"
        )
    return self.unfold(dimension % rank + 1, size, step), 0


_unfold_backward = overload("vivace::unfold_backward")


@rule("unfold_backward")
def unfold_backward(info, in_dims, self, input_sizes, dim, size, step):
    if not input_sizes:
        return self.flatten(1).sum(1), 0
    return _unfold_backward(self, (info.batch_size, *input_sizes), dim % len(input_sizes) + 1, size, step), 0


@rule("as_strided_scatter")
def as_strided_scatter(info, in_dims, self, src, size, stride, storage_offset=None):
    offset = (storage_offset or 0) if in_dims[0] is not None else (storage_offset or self.storage_offset())
    self, src = (
        t if d is not None else t.unsqueeze(0).expand(info.batch_size, *t.shape)
        for t, d in zip((self, src), in_dims, strict=False)
    )
    out = self.clone()
    reach = out.stride(0)
    out.as_strided((info.batch_size, *size), (reach, *stride), offset).copy_(src)
    return out, 0


@decomposed("masked_fill.Tensor")
def masked_fill(self, mask, value):
    if value.dim() != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
        )
    return value.to(self.dtype).where(mask, self)


_recurrence = overload("vivace::recurrence")


@rule("recurrence")
def recurrence(info, in_dims, gates, h0, c0, *rest):
    if any(d is not None for d in in_dims[3:]) or gates.dim() - (in_dims[0] is not None) != 3:
        return NotImplemented
    size = info.batch_size
    states = [None if s is None else _in_first(s, d, size) for s, d in zip((h0, c0), in_dims[1:3], strict=True)]
    gates = gates if in_dims[0] is not None else gates.unsqueeze(0).expand(size, *gates.shape)
    out, h, c, kept = _recurrence(gates.movedim(0, 1).flatten(1, 2), *states, *rest)
    results = (
        out.unflatten(1, (size, -1)).movedim(1, 0),
        h.unflatten(0, (size, -1)),
        c if c is None or c.numel() == 0 else c.unflatten(0, (size, -1)),
        kept,
    )
    return results, (0, 0, None if c is None or c.numel() == 0 else 0, None)


@rule("as_strided")
def as_strided(info, in_dims, self, size, stride, storage_offset=None):
    start = self.storage_offset() + (storage_offset or 0)
    return self.as_strided((info.batch_size, *size), (self.stride(0), *stride), start), 0


@rule("new_empty_strided")
def new_empty_strided(info, in_dims, self, size, stride, **options):
    reach = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return self.new_empty_strided((info.batch_size, *size), (reach, *stride), **options), 0


def _in_first(t, dim, size):
    """All samples' (N, ...) as (B * N, ...)."""
    if dim is None:
        t = t.unsqueeze(0).expand(size, *t.shape)
    return t.flatten(0, 1)


def _folding(name, sizes=None):
    """A rule for an operator over images: the batch joins their first dim. `sizes`: the argument with a result's."""
    op = overload(f"vivace::{name}")

    def call(info, in_dims, *args):
        size = info.batch_size
        is_tensor = [hasattr(a, "flatten") for a in args]
        args = [_in_first(a, d, size) if tensor else a for a, d, tensor in zip(args, in_dims, is_tensor, strict=True)]
        if sizes is not None:
            args[sizes] = [size * args[sizes][0], *args[sizes][1:]]
        results = op(*args)
        if not isinstance(results, tuple):
            return results.unflatten(0, (size, -1)), 0
        return tuple(r.unflatten(0, (size, -1)) for r in results), 0

    rule(name)(call)


for _name in ("max_pool", "adaptive_max_pool", "avg_pool", "adaptive_avg_pool", "_max_unpool", "_fractional_max_pool"):
    _folding(_name)
for _name in ("grid_sampler", "grid_sampler_backward", "attention", "pad_edges"):
    _folding(_name)
for _name, _sizes in {
    "max_pool_backward": 2,
    "avg_pool_backward": 1,
    "adaptive_avg_pool_backward": 1,
    "pad_edges_backward": 1,
}.items():
    _folding(_name, _sizes)

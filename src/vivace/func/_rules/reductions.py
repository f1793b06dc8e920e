"""Reductions of whole tensors: over all dims but the batch's."""

from vivace.func._rules.table import decomposed, rule


def _all(self):
    return tuple(range(self.dim()))


def _flat(physical):
    return physical.flatten(1) if physical.dim() > 1 else physical.unsqueeze(1)


@decomposed("sum")
def sum(self, *, dtype=None):
    return self.sum(_all(self), dtype=dtype)


@decomposed("mean")
def mean(self, *, dtype=None):
    return self.mean(_all(self), dtype=dtype)


@rule("prod")
def prod(info, in_dims, self, *, dtype=None):
    return _flat(self).prod(1, dtype=dtype), 0


@rule("all")
def all(info, in_dims, self):
    return _flat(self).all(1), 0


@rule("any")
def any(info, in_dims, self):
    return _flat(self).any(1), 0


@rule("max")
def max(info, in_dims, self):
    return _flat(self).amax(1), 0


@rule("min")
def min(info, in_dims, self):
    return _flat(self).amin(1), 0


@rule("median")
def median(info, in_dims, self):
    return _flat(self).median(1).values, 0


@rule("nanmedian")
def nanmedian(info, in_dims, self):
    return _flat(self).nanmedian(1).values, 0


@rule("count_nonzero")
def count_nonzero(info, in_dims, self, dim=None):
    if dim is None:
        return _flat(self).count_nonzero(1), 0
    if self.dim() == 1:
        return self.unsqueeze(1).count_nonzero(1), 0
    return self.count_nonzero(dim % (self.dim() - 1) + 1), 0


def _place_of_extreme(name):
    @rule(name)
    def find(info, in_dims, self, dim=None, keepdim=False):
        rank = self.dim() - 1
        if dim is None or rank == 0:
            out = getattr(_flat(self), name)(1)
            return out.view(-1, *[1] * rank) if keepdim else out, 0
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        return getattr(self, name)(dim % rank + 1, keepdim), 0


_place_of_extreme("argmax")
_place_of_extreme("argmin")

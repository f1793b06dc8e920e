"""Tensors of functions that run in vmap, seen from outside: their base, and the levels that it is batched at.

The base of a batched tensor has a leading dim for each level, outermost first. Autograd records what happens to bases;
so derivatives are taken there, of all samples at once.
"""

from vivace import _C


class outside:
    """A scope in which calls see no vmap."""

    def __enter__(self):
        self._depth = _C._vmap_depth(0)

    def __exit__(self, *exception):
        _C._vmap_depth(self._depth)


def spread(base, levels, wanted):
    """The base with a dim for each wanted level; it is expanded over those that it had none for."""
    for at, level in enumerate(wanted):
        if level not in levels:
            base = base.unsqueeze(at)
            base = base.expand(*base.shape[:at], _C._vmap_size(level), *base.shape[at + 1 :])
    return base


def arranged(base, levels, wanted):
    """The same with the leading dims in another order."""
    if levels == wanted:
        return base
    order = [levels.index(level) for level in wanted]
    return base.permute(*order, *range(len(order), base.dim()))

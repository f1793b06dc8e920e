"""Functions that run in vmap, seen from outside: autograd records what happens to bases, which have a leading dim for
each level that a tensor is batched at. So derivatives are taken there, of all samples at once.
"""

from vivace import _C


class levels_seen:
    """A scope in which calls see so many vmaps, the outermost."""

    def __init__(self, depth):
        self._depth = depth

    def __enter__(self):
        self._before = _C._vmap_depth(self._depth)

    def __exit__(self, *exception):
        _C._vmap_depth(self._before)


def outside():
    """A scope in which calls see none."""
    return levels_seen(0)


def base_at(t, levels):
    """A base of t with a dim for each of the levels that the samples of its tangents may differ at, too."""
    base, own = _C._vmap_unwrap(t)
    if own == levels:
        return base
    tangents = _C._tangents(base)
    if not tangents:
        return _C._vmap_beside_base(t, levels)
    bare = _C._vmap_wrap(_C._with_tangents(base, []), own)
    moved = [(at, _C._vmap_beside_base(_C._vmap_beside_batched(x, own), levels)) for at, x in tangents]
    return _C._with_tangents(_C._vmap_beside_base(bare, levels), moved)

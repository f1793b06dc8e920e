"""torch.return_types: the types of results that are tuples with names, such as torch.max(input, dim)."""

from vivace import _C

globals().update(_C._return_types())
__all__ = sorted(_C._return_types())

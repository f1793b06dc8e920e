"""Pictures of what happens: the autograd graph, the memory of a profile. They are SVG, made without other packages."""

from vivace.viz._graph import graph
from vivace.viz._memory import memory
from vivace.viz._picture import Picture

__all__ = ["Picture", "graph", "memory"]

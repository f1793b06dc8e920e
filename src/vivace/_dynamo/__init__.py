"""torch._dynamo: what programs name of it. Nothing is compiled, so it changes nothing."""

from types import SimpleNamespace

from vivace._eager import unchanged
from vivace.compiler import is_compiling as is_compiling
from vivace.compiler import list_backends as list_backends
from vivace.compiler import reset as reset

allow_in_graph = disable = disallow_in_graph = forbid_in_graph = graph_break = unchanged
config = SimpleNamespace()


def mark_dynamic(tensor, index, **kwargs):
    """Every size is dynamic."""


mark_static = mark_dynamic

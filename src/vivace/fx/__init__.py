"""torch.fx: there is no tracing here. `wrap`, which keeps a function from being traced, has nothing to do; classes that
packages derive from exist, and refuse to be made.
"""

from vivace._lazy import lazily, refusing

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "symbolic_trace", "wrap"]

_SENTENCE = "vivace runs programs and does not trace them: torch.fx cannot be used"


def wrap(fn_or_name):
    """The function, or the name, that was given."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


class _Refusing:
    def __new__(cls, *args, **kwargs):
        raise RuntimeError(_SENTENCE)


Graph, GraphModule, Interpreter, Node, Proxy, Tracer, Transformer = (
    type(name, (_Refusing,), {"__module__": "torch.fx"})
    for name in ("Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer")
)
symbolic_trace = refusing(__name__, _SENTENCE)("symbolic_trace")


__getattr__, __dir__ = lazily("vivace.fx", {}, listed=False)

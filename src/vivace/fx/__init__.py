"""torch.fx: there is no tracing here, so `wrap`, which keeps a function from being traced, has nothing to do."""

__all__ = ["wrap"]


def wrap(fn_or_name):
    """The function, or the name, that was given."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name

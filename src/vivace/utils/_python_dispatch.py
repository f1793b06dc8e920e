"""Modes that see every operator below autograd, and tools for tensor classes with __torch_dispatch__."""

import contextlib

from vivace import _C

__all__ = [
    "BaseTorchDispatchMode",
    "TorchDispatchMode",
    "is_in_any_mode_without_ignore_compile_internals",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """A with block in which __torch_dispatch__(func, types, args, kwargs) stands for each operator, whatever its
    arguments. `func` is an OpOverload; the mode is off while its method runs.
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError("vivace has no modes for single dispatch keys")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError()

    def __enter__(self):
        _C._push_on_torch_dispatch_stack(self)
        return self

    def __exit__(self, *exception):
        _C._pop_torch_dispatch_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        """A mode of this class."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode():
    n = _C._len_torch_dispatch_stack()
    return _C._get_dispatch_stack_at(n - 1) if n else None


def _get_current_dispatch_mode_stack():
    return [_C._get_dispatch_stack_at(i) for i in range(_C._len_torch_dispatch_stack())]


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is on in this thread."""
    return _C._len_torch_dispatch_stack() > 0


is_in_any_mode_without_ignore_compile_internals = is_in_torch_dispatch_mode


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    mode = _C._pop_torch_dispatch_stack()
    try:
        yield mode
    finally:
        _C._push_on_torch_dispatch_stack(mode)


@contextlib.contextmanager
def _disable_current_modes():
    modes = [_C._pop_torch_dispatch_stack() for _ in range(_C._len_torch_dispatch_stack())]
    try:
        yield modes[::-1]
    finally:
        for mode in reversed(modes):
            _C._push_on_torch_dispatch_stack(mode)


def is_traceable_wrapper_subclass(t):
    """Whether t is of a class that says by __tensor_flatten__ which tensors it is made of."""
    cls = t if isinstance(t, type) else type(t)
    return (
        issubclass(cls, _C.Tensor)
        and cls is not _C.Tensor
        and hasattr(cls, "__tensor_flatten__")
        and hasattr(cls, "__tensor_unflatten__")
    )


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """t with callback(name, tensor) in the place of each tensor that it is made of."""
    attrs, context = t.__tensor_flatten__()
    changed = {name: callback(name, getattr(t, name)) for name in attrs}
    return type(t).__tensor_unflatten__(
        changed,
        context,
        t.size() if outer_size is None else outer_size,
        t.stride() if outer_stride is None else outer_stride,
    )


def return_and_correct_aliasing(func, args, kwargs, out):
    """`out`, with what the schema says is an argument replaced by that argument."""
    schema = func._schema
    given = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
    written = [given[a.name] for a in schema.arguments if a.is_write and isinstance(given.get(a.name), _C.Tensor)]
    if not written or not isinstance(out, (_C.Tensor, tuple, list)):
        return out
    if isinstance(out, _C.Tensor):
        return written[0]
    return type(out)(written) if len(written) == len(out) else out

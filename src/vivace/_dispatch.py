"""__torch_dispatch__: what the extension calls for operators that a mode or a class is to see."""

from vivace import _C


def _values(args, kwargs):
    """The arguments, and the items of lists among them."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def _dispatching_types(args, kwargs):
    """The classes of arguments that see calls, subclasses before their superclasses."""
    found = []
    for value in _values(args, kwargs):
        cls = type(value)
        if cls is _C.Tensor or not isinstance(value, _C.Tensor) or cls in found or not _C._class_dispatches(cls):
            continue
        at = next((i for i, known in enumerate(found) if issubclass(cls, known)), len(found))
        found.insert(at, cls)
    return tuple(found)


def _call(func, args, kwargs):
    """Asks the innermost mode, which is off meanwhile, then the classes of the arguments."""
    types = _dispatching_types(args, kwargs)
    mode = None
    if _C._len_torch_dispatch_stack() > 0:
        mode = _C._pop_torch_dispatch_stack()
        try:
            result = mode.__torch_dispatch__(func, types, args, kwargs)
        finally:
            _C._push_on_torch_dispatch_stack(mode)
        if result is not NotImplemented:
            return result
    for cls in types:
        result = cls.__torch_dispatch__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    asked = [f"mode object {mode}"] * (mode is not None) + [f"tensor subclass {t}" for t in types]
    raise TypeError(
        f"Multiple dispatch failed for '{func}'; all __torch_dispatch__ handlers returned NotImplemented:\n\n"
        + "\n".join(f"  - {a}" for a in asked)
    )


def _find_overload(qualname):
    from vivace._ops import overload

    return overload(qualname)


_C._set_dispatch_handlers(_call, _find_overload)

"""__torch_dispatch__: what the extension calls for operators that a mode or a class is to see."""

from vivace import _C
from vivace._dispatch import derivatives, operators, presented


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


_rules: dict = {}  # operator's full name -> class -> what it calls in the place of __torch_dispatch__


def register_rule(qualname, cls, function):
    """For calls of one operator, what a mode or a class calls: function(mode or class, func, types, args, kwargs)."""
    _rules.setdefault(qualname, {})[cls] = function


def _answer(func, owner, cls, types, args, kwargs):
    """What a mode, or a class as owner of the call, says of it."""
    rule = _rules and _rules.get(func.name(), {}).get(cls)
    if rule:
        return rule(owner, func, types, args, kwargs)
    return owner.__torch_dispatch__(func, types, args, kwargs)


def _call(func, args, kwargs):
    """Asks the innermost mode, which is off meanwhile, then the classes of the arguments."""
    types = _dispatching_types(args, kwargs)
    mode = None
    if _C._len_torch_dispatch_stack() > 0:
        mode = _C._pop_torch_dispatch_stack()
        try:
            result = _answer(func, mode, type(mode), types, args, kwargs)
        finally:
            _C._push_on_torch_dispatch_stack(mode)
        if result is not NotImplemented:
            return result
    for cls in types:
        result = _answer(func, cls, cls, types, args, kwargs)
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


def activate():
    """For the extension, when the first mode is entered or the first instance of such a class made."""
    _C._set_dispatch_handlers(_call, _find_overload)
    presented.present()
    derivatives.register()


operators.define()

"""torch.overrides: __torch_function__ of classes, and modes that see every function.

The extension decides which calls are overridden and hands them to `_call`; the rest of the protocol is here.
"""

import collections
import functools
import types as _types

import vivace
from vivace import _C
from vivace._C import (
    _has_torch_function as has_torch_function,
)
from vivace._C import (
    _has_torch_function_unary as has_torch_function_unary,
)
from vivace._C import (
    _has_torch_function_variadic as has_torch_function_variadic,
)

__all__ = [
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

# ---- the protocol


def _call(func, args, kwargs):
    """What the extension calls for an overridden call."""
    relevant = []
    for value in (*args, *kwargs.values()):
        if type(value) in (list, tuple):
            relevant += value
        else:
            relevant.append(value)
    return handle_torch_function(func, relevant, *args, **kwargs)


def _overloaded(relevant_args):
    """The arguments that override, one a class, subclasses before their superclasses."""
    found = []
    for arg in relevant_args:
        if not _C._class_overrides(arg) or any(type(arg) is type(f) for f in found):
            continue
        at = next((i for i, f in enumerate(found) if issubclass(type(arg), type(f))), len(found))
        found.insert(at, arg)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks the innermost mode, then the classes of the arguments, for the result of public_api(*args, **kwargs)."""
    overloaded = _overloaded(relevant_args)
    types = tuple(map(type, overloaded))
    mode = None
    if _C._len_torch_function_stack() > 0:
        mode = _C._pop_torch_function_stack()
        try:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        finally:
            _C._push_on_torch_function_stack(mode)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    owner = getattr(public_api, "__objclass__", public_api).__module__
    asked = [f"mode object {mode}"] * (mode is not None) + [f"tensor subclass {t}" for t in types]
    raise TypeError(
        f"Multiple dispatch failed for '{owner}.{public_api.__qualname__}'; all __torch_function__ handlers returned "
        "NotImplemented:\n\n" + "\n".join(f"  - {a}" for a in asked)
    )


def _as_class(result, cls):
    if isinstance(result, _C.Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(_as_class(r, cls) for r in result)
    return result


def _tensor_torch_function(cls, func, types, args=(), kwargs=None):
    """The operation itself; tensors in its result become objects of the class."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with _C.DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in get_default_nowrap_functions() or cls is _C.Tensor else _as_class(result, cls)


@functools.cache
def get_default_nowrap_functions():
    """Functions whose results the default __torch_function__ leaves as they are."""
    return {getattr(_C.Tensor, name).__get__ for name in ("_base", "grad", "_grad")}


def wrap_torch_function(dispatcher):
    """Lets a function be overridden; dispatcher(*args, **kwargs) gives the arguments that count."""

    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


class _Disable:
    """A with block in which `level` of __torch_function__ is off."""

    _level = 0

    def __enter__(self):
        self._found = _C._exchange_torch_function_state(self._level)
        if self._found > self._level:
            _C._exchange_torch_function_state(self._found)

    def __exit__(self, *exception):
        _C._exchange_torch_function_state(self._found)


class DisableTorchFunctionSubclass(_Disable):
    """A with block in which classes don't override; modes do."""

    _level = 1


class DisableTorchFunction(_Disable):
    """A with block in which nothing overrides."""

    _level = 2


# ---- modes


class TorchFunctionMode:
    """A context manager whose __torch_function__ gets every call of a torch function or method in its block."""

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, *exception):
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    depth = _C._len_torch_function_stack()
    return _C._get_function_stack_at(depth - 1) if depth else None


def _get_current_function_mode_stack():
    return [_C._get_function_stack_at(i) for i in range(_C._len_torch_function_stack())]


class enable_reentrant_dispatch:
    """A with block for handlers that call functions again; nothing needs to be switched for it here."""

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass


# ---- what can be overridden

_NOT_OVERRIDABLE = {
    "typename", "is_tensor", "is_storage", "set_default_tensor_type", "set_default_device", "get_default_device",
    "set_rng_state", "get_rng_state", "manual_seed", "initial_seed", "seed", "save", "load", "set_printoptions",
    "get_printoptions", "fork", "get_default_dtype", "set_default_dtype", "get_num_threads", "set_num_threads",
    "get_num_interop_threads", "set_num_interop_threads", "init_num_threads", "import_ir_module",
    "is_grad_enabled", "is_inference_mode_enabled", "set_grad_enabled", "no_grad", "enable_grad", "inference_mode",
    "promote_types", "can_cast", "result_type", "from_numpy", "frombuffer", "from_dlpack", "to_dlpack", "tensor",
    "as_tensor", "asarray", "as_strided_", "empty", "zeros", "ones", "full", "rand", "randn", "randint", "randperm",
    "arange", "range", "linspace", "logspace", "eye", "empty_strided", "scalar_tensor", "normal", "tril_indices",
    "triu_indices", "vander", "compiled_with_cxx11_abi", "set_flush_denormal", "broadcast_shapes",
}  # fmt: skip
_NOT_OVERRIDABLE_METHODS = {
    "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__hash__", "__sizeof__", "__dir__", "__getstate__",
    "__getattribute__", "__setattr__", "__delattr__", "__delitem__", "__iter__", "__torch_function__", "__reduce__",
    "__str__", "as_subclass", "_make_subclass", "new", "__array_wrap__",
}  # fmt: skip


def _spaces():
    """The namespaces whose functions can be overridden, with the names that don't count."""
    return [
        (vivace, "torch", _NOT_OVERRIDABLE),
        (vivace.nn.functional, "torch.nn.functional", set()),
        (vivace.nn.init, "torch.nn.init", set()),
        (vivace.linalg, "torch.linalg", set()),
        (vivace.special, "torch.special", set()),
        (_C.Tensor, "torch.Tensor", _NOT_OVERRIDABLE_METHODS),
    ]


def _is_function(value):
    return isinstance(
        value,
        (
            _types.FunctionType,
            _types.BuiltinFunctionType,
            _types.MethodDescriptorType,
            _types.WrapperDescriptorType,
            _C.overridable,
        ),
    )


@functools.cache
def _overridable():
    """Functions by namespace, and the name of each."""
    functions, names = collections.defaultdict(list), {}
    for space, prefix, ignored in _spaces():
        for name in sorted(dir(space)):
            private = name.startswith("_") and not (space is _C.Tensor and name.startswith("__"))
            if private:
                continue
            value = getattr(space, name)
            if isinstance(value, _types.GetSetDescriptorType):
                value = value.__get__
                name += ".__get__"
            elif not _is_function(value):
                continue
            if value not in names:
                if name not in ignored:
                    functions[space].append(value)
                names[value] = f"{prefix}.{name}"
    return dict(functions), names


def get_overridable_functions():
    """Lists of the functions that can be overridden, by the namespace that holds them."""
    return {space: list(functions) for space, functions in _overridable()[0].items()}


def resolve_name(f):
    """The name under which get_overridable_functions knows a function: "torch.Tensor.add"; None for others."""
    return _overridable()[1].get(f)


def get_ignored_functions():
    """Functions that can't be overridden."""
    found = set()
    for space, _, ignored in _spaces():
        found |= {getattr(space, name) for name in ignored if hasattr(space, name)}
    return found


def get_testing_overrides():
    """For each function that can be overridden one that takes anything and gives -1."""

    def accept_all(*args, **kwargs):
        return -1

    return dict.fromkeys((f for found in _overridable()[0].values() for f in found), accept_all)


@functools.cache
def _tensor_methods():
    return set(get_overridable_functions()[_C.Tensor])


def is_tensor_method_or_property(func):
    """Whether a function is a method of Tensor, or reads or writes an attribute of it."""
    return func in _tensor_methods() or func.__name__ in ("__get__", "__set__")


def is_tensor_like(inp):
    """Whether an object is a tensor or has __torch_function__."""
    return type(inp) is _C.Tensor or hasattr(inp, "__torch_function__")


def install():
    """Puts the classes where programs look for them."""
    _C.DisableTorchFunctionSubclass = DisableTorchFunctionSubclass
    _C.DisableTorchFunction = DisableTorchFunction
    _C._set_override_handler(_call)


install()

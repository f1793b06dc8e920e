"""Parameters that are computed: a parametrized tensor is what modules make of the parameters that are trained.

The module's class becomes a subclass of its own, in which the tensor is a property that calls a ParametrizationList.
"""

import copy
from contextlib import contextmanager, suppress

import vivace

from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache = {}
_cached_blocks = 0


@contextmanager
def cached():
    """Within it each parametrized tensor is computed once."""
    global _cached_blocks
    _cached_blocks += 1
    try:
        yield
    finally:
        _cached_blocks -= 1
        if not _cached_blocks:
            _cache.clear()


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, called in turn: the first on `original`, or `original0`, `original1` ..."""

    def __init__(self, modules, original, unsafe=False):
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with vivace.no_grad():
            new = self._inverted(original)
        self.is_tensor = isinstance(new, vivace.Tensor)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                    f"{original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            original.data = new
            _register(self, "original", original)
        else:
            new = tuple(new)
            self.ntensors = len(new)
            for i, part in enumerate(new):
                if not isinstance(part, vivace.Tensor):
                    raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors. Got element {i}.")
                trained = isinstance(original, Parameter)
                _register(self, f"original{i}", Parameter(part, original.requires_grad) if trained else part)
        if not unsafe:
            self._check(original)

    def _inverted(self, value):
        for module in reversed(self):
            if hasattr(module, "right_inverse"):
                with suppress(NotImplementedError):  # as if it were not defined
                    value = module.right_inverse(value)
        return value

    def _check(self, original):
        result = self()
        if not isinstance(result, vivace.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what in ("dtype", "shape"):
            before, after = getattr(original, what), getattr(result, what)
            if before != after and (what == "dtype" or self.is_tensor):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def _originals(self):
        if self.is_tensor:
            return (self.original,)
        return tuple(getattr(self, f"original{i}") for i in range(self.ntensors))

    @vivace.no_grad()
    def right_inverse(self, value):
        """Sets the originals such that the result becomes `value`."""
        new = value
        for module in reversed(self):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
            new = module.right_inverse(new)
        parts = (new,) if isinstance(new, vivace.Tensor) else tuple(new)
        originals = self._originals()
        if len(parts) != len(originals):
            raise ValueError(f"'right_inverse' must return {len(originals)} tensors. Got {len(parts)}.")
        for original, part in zip(originals, parts, strict=True):
            if original.dtype != part.dtype:
                raise ValueError(f"'right_inverse' must keep the dtype {original.dtype}. Got {part.dtype}.")
            original.data = part

    def forward(self):
        first, *rest = self
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def _deepcopy(self, memo):
    replica = memo.get(id(self))
    if replica is None:
        replica = memo[id(self)] = type(self).__new__(type(self))
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _refuse_pickling(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict()")


def _inject_class(module):
    base = type(module)
    members = {"__getstate__": _refuse_pickling}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def _inject_property(module, name):
    def get(self):
        parametrization = self.parametrizations[name]
        if not _cached_blocks:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From here on, the tensor is what the module `parametrization` makes of the trained original."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module.parametrizations[tensor_name], module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = parametrizations
        _inject_property(module, tensor_name)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _append(parametrizations, module, name, parametrization, unsafe):
    value = getattr(module, name)
    if not unsafe:
        with vivace.no_grad():
            result = parametrization(value)
        for what in ("dtype", "shape"):
            if getattr(result, what) != getattr(value, what):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag "
                    "is enabled."
                )
    if hasattr(parametrization, "right_inverse"):
        with vivace.no_grad():
            parametrizations.right_inverse(parametrization.right_inverse(value))
    parametrizations.append(parametrization)
    parametrizations.unsafe |= unsafe


def is_parametrized(module, tensor_name=None):
    """Whether a tensor of the module, or the one of that name, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor a parameter again: its present value, or the original if leave_parametrized is False."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        tensor = parametrizations.original
        if leave_parametrized:
            with vivace.no_grad():
                tensor.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, tensor)
    if not module.parametrizations:
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The module's class as its author wrote it."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)

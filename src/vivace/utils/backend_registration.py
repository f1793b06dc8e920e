"""Names and methods of a private backend, whose kernels a program registers for the key PrivateUse1 (docs/backends.md).
PyTorch's, but for register_allocator and cpu_fallback, which it has in C++ alone.
"""

import sys

from vivace import _C
from vivace._backend import device_module

__all__ = [
    "cpu_fallback",
    "generate_methods_for_privateuse1_backend",
    "register_allocator",
    "rename_privateuse1_backend",
]


def rename_privateuse1_backend(backend_name):
    """Calls the private backend `backend_name` from now on: torch.device(backend_name) is one of its devices."""
    _C._rename_privateuse1_backend(backend_name)


def register_allocator(allocate, free):
    """Lets the backend hold the memory of its tensors: `allocate(nbytes, device_index)` gives the address of a block as
    an int, which vivace hands around and never reads; `free(address, nbytes)` gets it back when no tensor uses it any
    more. Tensors are then made without a kernel, and share blocks as views do.
    """
    _C._set_backend_allocator(allocate, free)


def _moved(value, move):
    if isinstance(value, _C.Tensor):
        return move(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, move) for item in value)
    return value


def cpu_fallback(op, *args, **kwargs):
    """A fallback for the private backend: copies tensors to the CPU, calls the operator there, copies back what it
    wrote, and returns its results on the device.
    """
    home = None
    here = {}  # id of a tensor -> itself, and its copy

    def to_cpu(tensor):
        nonlocal home
        if tensor.device.type == "cpu":
            return tensor
        home = home or tensor.device
        return here.setdefault(id(tensor), (tensor, tensor.cpu()))[1]

    def back(tensor):
        for original, copy in here.values():
            if copy is tensor:
                return original
        return tensor if home is None else tensor.to(home)

    def argument(value):
        if isinstance(value, _C.device) and value.type == _C._get_privateuse1_backend_name():
            nonlocal home
            home = home or value
            return _C.device("cpu")
        return _moved(value, to_cpu)

    result = op(*(argument(a) for a in args), **{k: argument(a) for k, a in kwargs.items()})
    schema = op._schema
    if schema.is_mutable:
        given = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
        for spec in schema.arguments:
            value = given.get(spec.name)
            if not spec.is_write or value is None:
                continue
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if id(tensor) in here:
                    copy = here[id(tensor)][1]
                    if copy.shape != tensor.shape:
                        tensor.resize_(copy.shape)
                    tensor.copy_(copy)
    return _moved(result, back)


def _put_once(where, attribute, value):
    if hasattr(where, attribute):
        raise RuntimeError(f"The custom device module of {where} has already been registered with {attribute}")
    setattr(where, attribute, value)


def _index_of(name, device=None):
    """The number of a device that is given by number, name, or not at all."""
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if device.type != name:
            raise RuntimeError(f"Invalid device, must be {name} device")
        device = device.index
    if device is not None:
        return device
    current = getattr(device_module(), "current_device", None)
    return current() if current else 0


def _is_here(name):
    return property(lambda self: self.device.type == name, doc=f"Whether it is on a device of type {name}.")


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _tensor_methods(name):
    def to(self, device=None, non_blocking=False, **kwargs):
        return self.to(device=_C.device(f"{name}:{_index_of(name, device)}"), non_blocking=non_blocking, **kwargs)

    _put_once(_C.Tensor, f"is_{name}", _is_here(name))
    _put_once(_C.Tensor, name, _C.overridable(_named(to, name, f"The tensor on a device of type {name}.")))


def _module_methods(name):
    if not hasattr(_C.Tensor, name):
        raise RuntimeError(
            f"Can not automatically generate {name}() method for torch.nn.Module, because torch.Tensor doesn't have "
            f"the method {name}(). Try for_tensor=True."
        )
    from vivace.nn import Module

    def to(self, device=None):
        return self._apply(lambda t: getattr(t, name)(device))

    _put_once(Module, name, _named(to, name, f"Moves parameters and buffers to a device of type {name}."))


def _packed_sequence_methods(name):
    if not hasattr(_C.Tensor, name):
        raise RuntimeError(
            f"Can not automatically generate is_{name}() or {name}() method for torch.nn.utils.rnn.PackedSequence, "
            f"because torch.Tensor doesn't have the method {name}(). Try for_tensor=True."
        )
    from vivace.nn.utils.rnn import PackedSequence

    def to(self, *args, **kwargs):
        moved = _C.tensor((), dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        return self.to(*args, **(kwargs if moved.device.type == name else kwargs | {"device": name}))

    on_device = property(lambda self: self.data.device.type == name, doc=f"Whether it is on a device of type {name}.")
    _put_once(PackedSequence, f"is_{name}", on_device)
    _put_once(PackedSequence, name, _named(to, name, f"The sequences on a device of type {name}."))


def _storage_methods(name):
    from vivace.storage import TypedStorage

    def to(self, device=None, non_blocking=False):
        return self.to(device=f"{name}:{_index_of(name, device)}")

    def typed_to(self, device=None, non_blocking=False):
        return TypedStorage(wrap_storage=to(self.untyped(), device), dtype=self.dtype)

    for kind, move in ((_C._StorageBase, to), (TypedStorage, typed_to)):
        _put_once(kind, f"is_{name}", _is_here(name))
        _put_once(kind, name, _named(move, name, f"The storage on a device of type {name}."))


def generate_methods_for_privateuse1_backend(
    for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=False, unsupported_dtype=None
):
    """Gives tensors, modules and packed sequences the methods `NAME()` and `is_NAME` of the backend's name."""
    name = _C._get_privateuse1_backend_name()
    if for_tensor:
        _tensor_methods(name)
    if for_module:
        _module_methods(name)
    if for_storage:
        _storage_methods(name)
    if for_packed_sequence:
        _packed_sequence_methods(name)


def _get_custom_mod_func(func_name):
    """A function of the backend's device module."""
    if not isinstance(func_name, str):
        raise AssertionError(f"func_name must be `str`, but got `{type(func_name)}`.")
    name = _C._get_privateuse1_backend_name()
    function = getattr(device_module(), func_name, None)
    if function is None:
        raise RuntimeError(
            f"Try to call torch.{name}.{func_name}. The backend must register a custom backend module with "
            f"`torch._register_device_module('{name}', BackendModule)`. And BackendModule needs to have the following "
            f"API's:\n `{func_name}(*args, **kwargs)`. \n"
        )
    return function


class _DummyBackendModule:
    """One device, always there."""

    def is_initialized(self):
        return True

    def is_available(self):
        return True

    def current_device(self):
        return 0

    def _is_in_bad_fork(self):
        return False

    def manual_seed_all(self, seed):
        pass

    def device_count(self):
        return 1


def _setup_privateuseone_for_python_backend(rename=None, backend_module=None, hook=None, device_guard=None):
    """Everything that a backend written in Python needs before its kernels: a name, methods, a device module."""
    if rename is None:
        _C._claim_backend()
    else:
        rename_privateuse1_backend(rename)
    generate_methods_for_privateuse1_backend()
    acc = _C._acc
    sys.modules["vivace"]._register_device_module(
        _C._get_privateuse1_backend_name(), backend_module or _DummyBackendModule()
    )
    acc.register_python_privateuseone_hook(hook or acc.PrivateUse1Hooks())
    acc.register_python_privateuseone_device_guard(device_guard or acc.DeviceGuard())

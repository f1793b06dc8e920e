"""The private backend's half in Python: what torch._C._acc, torch.get_device_module and torch.accelerator ask it. A
program claims it with torch.utils.rename_privateuse1_backend; its kernels are registered for the key PrivateUse1.
"""

import sys
from types import SimpleNamespace

from vivace import _C
from vivace._library import registry

__all__ = ["get_device_module"]

# Between the backend's memory and the CPU's, or within its own; either is on the backend.
registry.define("aten::_copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor?")


class PrivateUse1Hooks:
    """What PyTorch asks of a backend; a subclass answers."""

    def is_available(self):
        return True

    def is_built(self):
        return True

    def has_primary_context(self, device_index):
        return True


class DeviceGuard:
    """Stands for the device in use; vivace asks the device module instead."""

    def type_(self):
        raise NotImplementedError("a device guard says the type of its devices")


_registered = SimpleNamespace(hooks=None)


def _register_hooks(hooks):
    _C._claim_backend()
    _registered.hooks = hooks
    return True


def _register_device_guard(guard):
    _C._claim_backend()
    return True


_C._acc = SimpleNamespace(
    PrivateUse1Hooks=PrivateUse1Hooks,
    DeviceGuard=DeviceGuard,
    create_empty_tensor=_C._create_backend_tensor,
    register_python_privateuseone_hook=_register_hooks,
    register_python_privateuseone_device_guard=_register_device_guard,
)


def hooks():
    """The hooks that a program registered, or None."""
    return _registered.hooks


def name():
    """What the backend is called."""
    return _C._get_privateuse1_backend_name()


def device_module():
    """The module that stands for the backend's devices, or None."""
    return getattr(sys.modules["vivace"], name(), None)


def register_device_module(device_type, module):
    """Makes `module` torch.NAME, which says how many devices there are, which is in use, and so on."""
    top = sys.modules["vivace"]
    device_type = _C.device(device_type).type
    if hasattr(top, device_type):
        known = getattr(top, device_type)
        raise RuntimeError(f"The runtime module of '{device_type}' has already been registered with '{known}'")
    setattr(top, device_type, module)
    sys.modules[f"vivace.{device_type}"] = module
    if sys.modules.get("torch") is top:
        sys.modules[f"torch.{device_type}"] = module


def get_device_module(device=None):
    """The module of a device, by its name or itself; without one, the accelerator's, or torch.cpu."""
    if device is None:
        kind = name() if _C._backend_is_claimed() else "cpu"
    elif isinstance(device, str):
        kind = _C.device(device).type
    elif isinstance(device, _C.device):
        kind = device.type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect None, str, or torch.device")
    module = getattr(sys.modules["vivace"], kind, None)
    if module is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return module

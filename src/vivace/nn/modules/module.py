"""Module: what has parameters, buffers and submodules, and a forward.

Members live in `_parameters`, `_buffers` and `_modules`, which repeat every change in the instance's attributes. So
`module.weight` is a plain attribute read, and `__getattr__` is not called: it would cost every read its fast path. A
class that has a `__getattr__` or `__setattr__` of its own gets every read of a member, as in PyTorch.
"""

from _weakref import ref
from collections import OrderedDict
from contextlib import suppress

from vivace import _C

from ...utils._observed import ObservedDict
from ..parameter import Parameter, Tensor
from . import _hooks
from ._hooks import (
    HOOK_DICTS,
    ModuleHooks,
    OnFirstUse,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import ModuleState, _IncompatibleKeys
from ._tree import ModuleTree

__all__ = [
    "Module",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_NO_ARGUMENT = object()
_PARAMETERS, _BUFFERS, _MODULES = KINDS = "_parameters", "_buffers", "_modules"


def _typename(value):
    if isinstance(value, Tensor):
        return value.type()
    cls = type(value)
    return (
        cls.__name__
        if cls.__module__ == "builtins"
        else f"{cls.__module__}.{cls.__name__}".replace("vivace", "torch", 1)
    )


class Members(ObservedDict):
    """Parameters, buffers or submodules by name, in order of registration; the owner's attributes follow it."""

    __slots__ = ("_owner",)

    def __init__(self, owner, items=()):
        self._owner = ref(owner)
        self.update(items)

    def _stored(self, name, value):
        owner = self._owner()
        if owner is None or not owner._reads_plainly:
            return
        if hasattr(type(owner), name):  # a property of the class must not be called
            owner.__dict__[name] = value
        else:
            object.__setattr__(owner, name, value)

    def _removed(self, name):
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)


class Module(ModuleHooks, ModuleState, ModuleTree):
    """Base class of all layers and models."""

    dump_patches = False
    call_super_init = False
    _reads_plainly = True
    _non_persistent_buffers_set = OnFirstUse(set)

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        for kind in KINDS:
            object.__setattr__(self, kind, Members(self))
        object.__setattr__(self, "training", True)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = cls.__getattr__, cls.__setattr__, cls.__getattribute__
        cls._reads_plainly = own == (Module.__getattr__, Module.__setattr__, Module.__getattribute__)
        if cls._reads_plainly:
            _C._read_plainly(cls)

    # ---- the call

    def __call__(self, input=_NO_ARGUMENT, /, *args, **kwargs):
        # One positional argument is what most calls have; it spares packing and unpacking a tuple.
        if args or kwargs or self._hooked or input is _NO_ARGUMENT:
            if input is not _NO_ARGUMENT:
                args = (input, *args)
            return self._call_impl(*args, **kwargs) if self._hooked else self.forward(*args, **kwargs)
        return self.forward(input)

    def forward(self, *args, **kwargs):
        """What a call computes; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- registration

    def register_parameter(self, name, param):
        """Adds a parameter, or with None the place of one."""
        self._check_new(_PARAMETERS, name, "parameter")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter or "
                    "None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    "explicitly. "
                    f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            for hook in _hooks._global_parameter_registration_hooks.values():
                changed = hook(self, name, param)
                param = param if changed is None else changed
        self._members(_PARAMETERS)[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that belongs to the module's state but is no parameter."""
        self._check_new(_BUFFERS, name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        for hook in _hooks._global_buffer_registration_hooks.values():
            changed = hook(self, name, tensor)
            tensor = tensor if changed is None else changed
        self._members(_BUFFERS)[name] = tensor
        self._set_persistent(name, persistent)

    def add_module(self, name, module):
        """Adds a submodule, or with None the place of one."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_new(_MODULES, name, "module")
        self._put_module(name, module)

    register_module = add_module

    def _put_module(self, name, module):
        for hook in _hooks._global_module_registration_hooks.values():
            changed = hook(self, name, module)
            module = module if changed is None else changed
        self._members(_MODULES)[name] = module

    def _check_new(self, kind, name, noun):
        members = getattr(self, kind, None)
        if members is None:
            raise AttributeError(f"cannot assign {noun} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{noun} name should be a string. Got {_typename(name)}")
        if "." in name:
            raise KeyError(f'{noun} name can\'t contain "."' + (f", got: {name}" if kind == _MODULES else ""))
        if name == "":
            raise KeyError(f'{noun} name can\'t be empty string ""')
        if name not in members and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def _set_persistent(self, name, persistent):
        if not persistent:
            self._non_persistent_buffers_set.add(name)
        elif self._non_persistent_buffers_set:
            self._non_persistent_buffers_set.discard(name)

    def _members(self, kind):
        """One of the three dicts; a plain dict that someone put in its place becomes live again."""
        members = getattr(self, kind)
        if type(members) is not Members:
            members = Members(self, members)
            object.__setattr__(self, kind, members)
        return members

    # ---- attributes

    def __getattr__(self, name):
        """The member of that name, for those who call this, or its super method, themselves."""
        for kind in KINDS:
            members = self.__dict__.get(kind, ())
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            if not hasattr(self, _PARAMETERS):
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, _PARAMETERS)
            self.register_parameter(name, value)
            return
        kind = self._kind_of(name)
        if isinstance(value, Module) and kind != _PARAMETERS:
            if not hasattr(self, _MODULES):
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, _MODULES)
            self._put_module(name, value)
        elif kind != _PARAMETERS and isinstance(value, Tensor) and getattr(value, "_is_buffer", False):
            self._forget(name, _BUFFERS)
            self.register_buffer(name, value, value.persistent)
        elif kind is None:
            object.__setattr__(self, name, Members(self, value) if name in KINDS else value)
        else:
            self._replace_member(kind, name, value)

    def __delattr__(self, name):
        kind = self._kind_of(name)
        if kind is None:
            object.__delattr__(self, name)
            return
        del self._members(kind)[name]
        if kind == _BUFFERS:
            self._set_persistent(name, True)

    def _kind_of(self, name):
        """Which of the three dicts holds the name, or None."""
        try:
            if name in self._parameters:
                return _PARAMETERS
            if name in self._modules:
                return _MODULES
            if name in self._buffers:
                return _BUFFERS
        except AttributeError:
            pass  # before Module.__init__
        return None

    def _replace_member(self, kind, name, value):
        if kind == _BUFFERS:
            noun, expected = "buffer", "torch.nn.Buffer, torch.Tensor"
            for hook in _hooks._global_buffer_registration_hooks.values():
                changed = hook(self, name, value)
                value = value if changed is None else changed
        else:
            noun, expected = (
                ("parameter", "torch.nn.Parameter") if kind == _PARAMETERS else ("child module", "torch.nn.Module")
            )
        if value is not None and not (kind == _BUFFERS and isinstance(value, Tensor)):
            raise TypeError(f"cannot assign '{_typename(value)}' as {noun} '{name}' ({expected} or None expected)")
        self._members(kind)[name] = value

    def _forget(self, name, kind):
        """Takes a name away from wherever it was, before it becomes a member of `kind`."""
        held = self._kind_of(name)
        if held == kind:
            return
        if held is not None:
            del self._members(held)[name]
        with suppress(AttributeError):
            object.__delattr__(self, name)

    def __dir__(self):
        return sorted(name for name in super().__dir__() if not name[0].isdigit())

    # ---- copying and pickling: members are stored once

    def __getstate__(self):
        # PyTorch, which may read the pickle, expects all dicts of hooks.
        defaults = {"_is_full_backward_hook": None, "training": self.training}
        state = {**{name: OrderedDict() for name in HOOK_DICTS}, **defaults, **self.__dict__}
        for kind in KINDS:
            members = state.get(kind)
            if members is not None:
                state[kind] = dict(members)
                for name, value in members.items():
                    if state.get(name) is value:
                        state.pop(name, None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in HOOK_DICTS:
            if not state.get(name):  # left to first use, which marks the module as one with hooks
                self.__dict__.pop(name, None)
        for kind in KINDS:
            object.__setattr__(self, kind, Members(self, state.get(kind) or {}))
        if any(
            state.get(name)
            for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
        ):
            object.__setattr__(self, "_hooked", True)


_C._read_plainly(Module)

"""torch.library.custom_op: an operator made of a Python function, its schema taken from the annotations."""

import functools

from vivace import _C
from vivace._library import autograd, registry
from vivace._library.infer import infer_schema
from vivace._library.schema import parse

_defined: dict[str, "CustomOpDef"] = {}
_DEVICE_KEYS = {
    "cpu": "CPU",
    "meta": "Meta",
    "cuda": "CUDA",
    "privateuseone": "PrivateUse1",
    "default": "CompositeExplicitAutograd",
    None: "CompositeExplicitAutograd",
}


def key_for_device(device_type):
    """The dispatch key of a device type."""
    if device_type == _C._get_privateuse1_backend_name():
        return "PrivateUse1"
    if device_type not in _DEVICE_KEYS:
        raise ValueError(f"vivace has no kernels for devices of type {device_type!r}")
    return _DEVICE_KEYS[device_type]


def device_types_of(given):
    """A device type, several, or None, as a list."""
    return [given] if given is None or isinstance(given, str) else list(given)


class CustomOpDef:
    """What `custom_op` makes of a function: called like it; it is given kernels, a formula and so on."""

    def __init__(self, namespace, name, schema, fn):
        self._namespace = namespace
        self._name = name
        self._qualname = f"{namespace}::{name}"
        self._init_fn = fn
        self._fake = None
        self._formula = None
        self._kernels = {}
        self._undo = {}
        functools.update_wrapper(self, fn)
        self._qualname = registry.define(self._qualname + schema, fresh_results=True)
        from vivace._ops import overload

        self._opoverload = overload(self._qualname)
        self._schema = self._opoverload._schema
        if any(a.kwarg_only and a.is_tensor for a in self._schema.arguments):
            self._destroy()
            raise NotImplementedError(
                f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {self._schema}"
            )
        self._put("Meta", self._call_fake)
        self.register_autograd(None)

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def _put(self, key, function, how="kernel"):
        if key in self._undo:
            self._undo.pop(key)()
        self._undo[key] = registry.impl(self._qualname, key, function, how)

    def _destroy(self):
        for undo in self._undo.values():
            undo()
        self._undo.clear()
        registry.forget(self._qualname)

    def _call_fake(self, *args, **kwargs):
        if self._fake is not None:
            return self._fake(*args, **kwargs)
        if self._schema.is_mutable and not self._schema.returns:
            return None  # there is nothing to compute
        raise RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for tensors on the meta device. Please "
            f"use `{self._init_fn.__name__}.register_fake` to add one."
        )

    def register_kernel(self, device_types, fn=None, /):
        """Registers the implementation for one or several types of devices. A decorator without `fn`."""

        def register(function):
            for device_type in device_types_of(device_types):
                self._kernels[device_type] = function
                self._put(key_for_device(device_type), function)
            return function

        return register if fn is None else register(fn)

    def set_kernel_enabled(self, device_type, enabled=True):
        """Switches the kernel that was registered for a device off, or on again; a context manager that undoes it."""
        if device_type not in self._kernels:
            raise ValueError(f"{self} has no kernel for {device_type!r}")
        key = key_for_device(device_type)
        before = key in self._undo
        self._switch(key, device_type, enabled)
        return _Switched(self, key, device_type, before)

    def _switch(self, key, device_type, enabled):
        if enabled:
            self._put(key, self._kernels[device_type])
        elif device_type is None:
            raise ValueError("the kernel for all devices can't be switched off")
        else:
            self._put(key, self._kernels.get(None, self._init_fn))

    def register_fake(self, fn, /):
        """Registers what makes the results' shapes and dtypes, on the meta device."""
        self._fake = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """Registers the formula: `backward(ctx, *grads)`, with what `setup_context(ctx, inputs, output)` saved."""
        if backward is not None and not self._schema.is_functional:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {self._schema}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        self._put("Autograd", autograd.make_apply(self._opoverload, backward, setup_context), "record")

    def register_autocast(self, device_type, cast_inputs):
        """Casts floating-point tensors among the arguments to a dtype under autocast."""
        self._put(*autocast_kernel(self._opoverload, device_type, cast_inputs))

    def register_vmap(self, func=None, /):
        """Registers what the operator does in vmap: `func(info, in_dims, *args)` gives results and their out_dims."""
        return register_vmap(self._qualname, func)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Registers what a TorchDispatchMode or a tensor class calls for this operator in the place of its
        __torch_dispatch__: `fn(mode or class, func, types, args, kwargs)`. A decorator without `fn`.
        """
        return register_torch_dispatch(self._qualname, torch_dispatch_class, fn)


class _Switched:
    def __init__(self, op, key, device_type, before):
        self._restore = lambda: op._switch(key, device_type, before)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._restore()


def register_vmap(qualname, func):
    """Registers an operator's rule for vmap; a decorator without func."""
    if func is None:
        return lambda function: register_vmap(qualname, function)
    registry.vmap_rules[qualname] = func
    _C._forget_vmap_rule(qualname)
    return func


def register_torch_dispatch(qualname, cls, fn):
    """The same, by full name."""
    from vivace._dispatch import register_rule

    def register(function):
        register_rule(qualname, cls, function)
        return function

    return register if fn is None else register(fn)


def autocast_kernel(op, device_type, cast_inputs):
    """Key and kernel that cast arguments and call `op` with autocast off."""
    if device_type != "cpu":
        raise ValueError(f"vivace has no autocast for devices of type {device_type!r}")

    def cast(value):
        if isinstance(value, list | tuple):
            return type(value)(cast(v) for v in value)
        if isinstance(value, _C.Tensor) and value.is_floating_point() and value.dtype is not _C.float64:
            return value.to(cast_inputs)
        return value

    def kernel(*args, **kwargs):
        from vivace import autocast

        with autocast(device_type, enabled=False):
            return op(*map(cast, args), **{k: cast(v) for k, v in kwargs.items()})

    return "AutocastCPU", kernel


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes an operator `namespace::name` of a function. Its schema comes from the annotations, unless it is given.
    Defining a name again replaces the operator.
    """

    def make(function):
        namespace, separator, rest = name.partition("::")
        if not separator or "." in rest:
            raise ValueError(f"the name of an operator reads namespace::name, without overload, not {name!r}")
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        if schema is not None and mutates_args != "unknown":
            written = {a.name for a in parse(f"{name}{schema}").arguments if a.is_write}
            if written != set(mutates_args):
                raise ValueError(f"the schema says that {sorted(written)} are mutated, not {sorted(mutates_args)}")
        if name in _defined:
            _defined.pop(name)._destroy()
        made = _defined[name] = CustomOpDef(namespace, rest, text, function)
        made.register_kernel(device_types, function)
        return made

    return make if fn is None else make(fn)


def find(op):
    """The CustomOpDef of an operator or a full name; None if `custom_op` did not make it."""
    if isinstance(op, CustomOpDef):
        return op
    return _defined.get(op if isinstance(op, str) else op.name())

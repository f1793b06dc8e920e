"""torch.library: operators defined by a program, and kernels of its own for those that exist; docs/custom_operators.md.

A registration costs calls of other operators nothing. It goes when its Library does.
"""

import contextlib
import weakref

from vivace._library import autograd, custom_ops, registry
from vivace._library.custom_ops import CustomOpDef, custom_op
from vivace._library.infer import infer_schema
from vivace._library.keys import PLACES, DispatchKeySet
from vivace._library.opcheck import opcheck
from vivace._library.registry import fallthrough_kernel

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

_owned: set[str] = set()  # namespaces with a Library of kind DEF
_kept: dict[str, "Library"] = {}  # for registrations that name no Library, which last


def _undo_all(steps):
    for undo in reversed(steps):
        undo()
    steps.clear()


class Library:
    """Definitions and kernels of a namespace. Kinds: "DEF", the only one that owns it, "FRAGMENT", which adds
    definitions, and "IMPL", which adds kernels to operators of others.
    """

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims") and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF" and ns in _owned:
            raise RuntimeError(
                f"Only a single Library of kind DEF can be used to register the namespace {ns}; please put all of your "
                "definitions in one, or use kind FRAGMENT for the others."
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._undo = []
        if kind == "DEF":
            _owned.add(ns)
            self._undo.append(lambda: _owned.discard(ns))
        self._finalizer = weakref.finalize(self, _undo_all, self._undo)
        self._finalizer.atexit = False

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Defines `name(Tensor x, ...) -> Tensor`; returns the name."""
        if self.kind == "IMPL":
            raise RuntimeError(f"define() needs a Library of kind DEF or FRAGMENT, not {self}")
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        name = schema.partition("(")[0].strip()
        if "::" in name and name.partition("::")[0] != self.ns:
            raise RuntimeError(f"{name} is not in the namespace of {self}")
        qualname = registry.define(schema.strip() if "::" in name else f"{self.ns}::{schema.strip()}")
        self._undo.append(lambda: registry.forget(qualname))
        return name

    def _resolve(self, op_name):
        """The full name of an operator that is given by name, or as an object of torch.ops."""
        if not isinstance(op_name, str):
            qualname = op_name.name() if hasattr(op_name, "name") else op_name._qualified_op_name
        else:
            qualname = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        if qualname.partition("::")[0] != self.ns:
            raise RuntimeError(f"{qualname} is not in the namespace of {self}")
        return qualname.removesuffix(".default")

    def _put(self, qualname, key, function, how="kernel"):
        self._undo.append(registry.impl(qualname, key, function, how))

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Registers `fn` as the kernel of an operator for a dispatch key: "CPU", "Meta", "Autograd",
        "CompositeImplicitAutograd" (which is also the default) and so on.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        qualname = self._resolve(op_name)
        name = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        key = registry.key_of(name)
        if not allow_override and registry.record(qualname).kernels.get(key):
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {qualname}'s "
                f"behavior for {name} dispatch key and {self.ns} namespace."
            )
        if with_keyset and fn is not fallthrough_kernel:
            self._put(
                qualname, key, lambda mask, *args, **kwargs: fn(DispatchKeySet.of_mask(mask), *args, **kwargs), "keyset"
            )
        else:
            self._put(qualname, key, fn)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """Registers `fn(op, *args, **kwargs)` for all operators that have no kernel for a dispatch key; `with_keyset`:
        fn gets the call's set of keys first.
        """
        if self.ns != "_":
            raise RuntimeError(f"Fallback can only be registered using library fragment with '_' namespace, not {self}")
        key = registry.key_of(dispatch_key or self.dispatch_key)
        if key.startswith("Composite"):
            raise RuntimeError(f"there are no fallbacks for alias keys such as {key}")
        self._undo.append(registry.fallback(key, fn, "keyset" if with_keyset else "kernel"))

    def _destroy(self):
        self._finalizer()


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    """A Library for the time of a with block."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def _name_of(op):
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, str):
        if "::" not in op:
            raise ValueError(f"the name of an operator reads namespace::name, not {op!r}")
        return op.removesuffix(".default")
    return op.name() if hasattr(op, "name") else op._qualified_op_name


def _library_for(qualname, lib):
    if lib is not None:
        return lib
    namespace = qualname.partition("::")[0]
    if namespace not in _kept:
        _kept[namespace] = Library(namespace, "FRAGMENT")
    return _kept[namespace]


def define(qualname, schema, *, lib=None, tags=()):
    """Defines an operator; with `define(lib, schema)`, a decorator of its implementation."""
    if isinstance(qualname, Library):
        library = qualname

        def decorate(function):
            name = library.define(schema)
            library.impl(name, function)
            return function

        return decorate
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    _name_of(qualname)
    _library_for(qualname, lib).define(qualname + schema, tags=tags)
    return None


def impl(qualname, types, func=None, *, lib=None):
    """Registers an implementation for types of devices ("cpu", "default") or dispatch keys; a decorator without
    `func`. The older form is `impl(lib, name, dispatch_key)`.
    """
    if isinstance(qualname, Library):
        library, name, key = qualname, types, func or ""

        def decorate(function):
            library.impl(name, function, key)
            return function

        return decorate
    keys = []
    for given in custom_ops.device_types_of(types):
        try:
            keys.append(registry.key_of(given))
        except RuntimeError:
            keys.append(custom_ops.key_for_device(given))

    def register(function):
        for key in keys:
            _library_for(qualname, lib)._put(_name_of(qualname), key, function)

    if func is not None:
        return register(func)

    def decorator(function):
        register(function)
        return function

    return decorator


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Registers the implementation of an operator for types of devices; a decorator without `func`."""
    known = custom_ops.find(op)
    if known is not None:
        return known.register_kernel(device_types, func)
    name = _name_of(op)

    def register(function):
        for device_type in custom_ops.device_types_of(device_types):
            _library_for(name, lib)._put(name, custom_ops.key_for_device(device_type), function)
        return function

    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Registers what an operator does on the meta device: it computes shapes and dtypes alone. The operator may be
    defined later.
    """
    known = custom_ops.find(op)
    name = _name_of(op)

    def register(function):
        if known is not None:
            return known.register_fake(function)
        _library_for(name, lib)._put(name, "Meta", function)
        return function

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Registers the formula: `backward(ctx, *grads)`, with what `setup_context(ctx, inputs, output)` saved."""
    known = custom_ops.find(op)
    if known is not None:
        known.register_autograd(backward, setup_context=setup_context)
        return
    from vivace._ops import overload

    name = _name_of(op)
    found = overload(name)
    if not found._schema.is_functional:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {found} with schema {found._schema}. Please "
            "create a functional operator and register an autograd formula for that."
        )
    apply = autograd.make_apply(found, backward, setup_context)
    _library_for(name, lib)._put(name, "Autograd", apply, "record")


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Registers the dtype that an operator's floating-point arguments have under autocast."""
    known = custom_ops.find(op)
    if known is not None:
        known.register_autocast(device_type, cast_inputs)
        return
    from vivace._ops import overload

    name = _name_of(op)
    _library_for(name, lib)._put(name, *custom_ops.autocast_kernel(overload(name), device_type, cast_inputs))


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """Registers what a TorchDispatchMode or a tensor class calls for one operator in the place of its
    __torch_dispatch__: `func(mode or class, func, types, args, kwargs)`. A decorator without `func`.
    """
    return custom_ops.register_torch_dispatch(_name_of(op), torch_dispatch_class, func)


def register_vmap(op, func=None, /, *, lib=None):
    """Registers what an operator does in vmap: `func(info, in_dims, *args)` gives results and their out_dims."""
    return custom_ops.register_vmap(_name_of(op), func)


class _Kernel:
    """What an operator runs for one key, whatever is registered later."""

    def __init__(self, op, key, found):
        self._op, self._bit, self._found = op, 1 << PLACES[key], found

    def call_boxed(self, keyset, /, *args, **kwargs):
        """Calls it with a set of keys."""
        if self._found is None:
            return self._op._call_original(self._bit, *args, **kwargs)
        function, how = self._found
        return function(keyset.native, *args, **kwargs) if how == "keyset" else function(*args, **kwargs)


def get_kernel(op, dispatch_key):
    """The kernel that an operator has now for a dispatch key: a kernel that takes its place may call it."""
    from vivace._ops import overload

    name = _name_of(op)
    key = registry.key_of(getattr(dispatch_key, "name", dispatch_key))
    if key not in PLACES:
        raise RuntimeError(f"{key} stands for several keys; name one of {', '.join(PLACES)}")
    found = registry.record(name).find(key)
    if found is None and not registry.has_own(name, key):
        raise RuntimeError(f"no kernel for {key} was registered for {name}")
    return _Kernel(overload(name), key, found)


def get_ctx():
    """Refuses: sizes that depend on data exist only while PyTorch traces."""
    raise RuntimeError(
        "get_ctx() is for shapes that depend on data, which tensors on the meta device can't have: the operator has no "
        "meta implementation"
    )

"""Which callable an operator runs for which dispatch key: the kernels that Python registered, by PyTorch's names of
keys, are turned into entries of the native tables. Alias keys stand behind exact ones, fallbacks behind both.
"""

from dataclasses import dataclass, field
from typing import Any

from vivace import _C
from vivace._library import schema as schemas
from vivace._library.keys import (
    AUTOGRAD_OF,
    BACKENDS,
    FORWARD_AD,
    PLACES,
    PYTHON,
    PYTORCH_NAMES,
    DispatchKey,
    DispatchKeySet,
)

_ALIASES = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_WITHOUT = {
    "ADInplaceOrView": "versions and views are kept by the dispatcher itself",
    "BackendSelect": "a device argument selects the backend by itself",
    "FuncTorchBatched": "torch.library.register_vmap registers what an operator does in vmap",
}


def fallthrough_kernel():
    """Registered for a key, it lets calls through to the next one."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def key_of(name):
    """PyTorch's name of a dispatch key, as kernels are kept by it."""
    name = PYTORCH_NAMES.get(name, name)
    if name in PLACES or name in _ALIASES or name in AUTOGRAD_OF:
        return name
    if name in _WITHOUT:
        raise NotImplementedError(f"vivace has no kernels for {name}: {_WITHOUT[name]}")
    raise RuntimeError(f"could not parse dispatch key: {name}")


@dataclass
class Record:
    """What Python registered for one operator. Kernels may come before the definition."""

    qualname: str
    schema: Any = None  # where Python defined it
    exists: bool = False
    kernels: dict = field(default_factory=dict)  # key -> [(function, how)], the last is in use

    def find(self, key):
        """(function, how) for a native key; None: what the operator has by itself."""
        if self.kernels.get(key):
            return self.kernels[key][-1]
        built_in = self.schema is None
        composite = built_in and _C._is_composite(self.qualname)
        if key in BACKENDS and (composite or not has_own(self.qualname, key)):
            for name in _ALIASES:
                if self.kernels.get(name):
                    return self.kernels[name][-1]
        if key == "PrivateUse1" and built_in:
            return None  # what can't be derived goes to the fallback natively
        if (composite and (key in BACKENDS or key == "Autograd")) or has_own(self.qualname, key):
            return None
        return _for_operator(_fallbacks.get(key), self.qualname)

    def _find_autograd(self):
        """The same for autograd, where kernels may be for tensors of one kind of device."""
        own = {mask: self.kernels[name][-1] for name, mask in AUTOGRAD_OF.items() if self.kernels.get(name)}
        general = self.find("Autograd")
        if not own:
            return general
        from vivace._ops import overload

        op = overload(self.qualname)

        def by_device(keys, *args, **kwargs):
            function, how = next((found for mask, found in own.items() if keys & mask), general or (None, "original"))
            if how == "original" and has_own(self.qualname, "Autograd"):
                return op._call_original(keys, *args, **kwargs)
            if function is None:
                return op._redispatch(keys & ((1 << PLACES["Autograd"]) - 1), *args, **kwargs)
            return function(keys, *args, **kwargs) if how == "keyset" else function(*args, **kwargs)

        return by_device, "keyset"

    def resolve(self):
        """Writes the native table."""
        if not self.exists:
            return
        for key, number in PLACES.items():
            found = self._find_autograd() if key == "Autograd" else self.find(key)
            function, how = found or (None, "original")
            of_device = key == "PrivateUse1" and bool(self.kernels.get(key))
            _C._set_kernel(self.qualname, number, function, how, of_device)
        if self.schema is not None:
            how = "fallthrough" if self._passes_tangents() else "original"
            _C._set_kernel(self.qualname, FORWARD_AD, None, how, False)
            how = "fallthrough" if self._is_composite() else "original"  # the parts are seen in its place
            for key in PYTHON[:1] if self.find("Python") else PYTHON:
                _C._set_kernel(self.qualname, key, None, how, False)

    def _is_composite(self):
        """Whether its kernel only calls operators, whatever the backend."""
        used = next((name for name in ("CPU", *_ALIASES) if self.kernels.get(name)), None)
        return used == "CompositeImplicitAutograd"

    def _passes_tangents(self):
        """Whether what its kernel calls sees tangents: it is made of operators, or has a kernel for Autograd that does
        more than to record. Others refuse forward mode.
        """
        for name in ("Autograd", *AUTOGRAD_OF):
            if self.kernels.get(name):
                return self.kernels[name][-1][1] != "record"
        return self._is_composite()


_records: dict[str, Record] = {}
_fallbacks: dict[str, Any] = {}
vmap_rules: dict[str, Any] = {}  # by full name
_catalogue: dict[str, list[str]] = {}


def _for_operator(fallback, qualname):
    """(function, how) of a fallback, for one operator."""
    if fallback is None:
        return None
    function, how = fallback
    if how == "fallthrough":
        return fallback

    def kernel(*args, **kwargs):
        from vivace._ops import overload

        return function(overload(qualname), *args, **kwargs)

    def kernel_with_keys(keys, *args, **kwargs):
        from vivace._ops import overload

        return function(DispatchKeySet.of_mask(keys), overload(qualname), *args, **kwargs)

    return (kernel_with_keys if how == "keyset" else kernel), how


def catalogue():
    """Names of built-in operators, and their overloads."""
    if not _catalogue:
        for name, overload in _C._catalogue_operators():
            _catalogue.setdefault(name, []).append(overload)
    return _catalogue


def _built_in(qualname):
    namespace, _, rest = qualname.partition("::")
    name, _, overload = rest.partition(".")
    return namespace == "aten" and overload in catalogue().get(name, ())


def exists(qualname):
    """Whether there is an operator of that full name."""
    found = _records.get(qualname)
    return (found is not None and found.exists) or _built_in(qualname)


def overloads(namespace, name):
    """Overload names of what a packet holds, defined ones last; "" is the default one."""
    found = list(catalogue().get(name, ())) if namespace in ("aten", "vivace") else []
    prefix = f"{namespace}::{name}"
    for qualname, record in _records.items():
        overload = qualname.partition(".")[2]
        if record.schema is not None and qualname.partition(".")[0] == prefix and overload not in found:
            found.append(overload)
    return found


def has_fallback(key):
    """Whether a fallback was registered for a key."""
    return key in _fallbacks


def all_names():
    """Full names of all operators."""
    built_in = [f"aten::{name}" + (f".{o}" if o else "") for name, found in catalogue().items() for o in found]
    return built_in + [q for q, known in _records.items() if known.exists and known.schema is not None]


def schema_text(qualname):
    """An operator's signature."""
    found = record(qualname)
    return str(found.schema) if found.schema is not None else f"aten::{_C._operator_schema(qualname)}"


def names(namespace):
    """Operators of a namespace, without their overloads."""
    found = set(catalogue()) if namespace == "aten" else set()
    for qualname, record in _records.items():
        if record.exists and qualname.startswith(f"{namespace}::"):
            found.add(qualname.partition("::")[2].partition(".")[0])
    return sorted(found)


def namespaces():
    """Those that have operators."""
    return sorted({"aten"} | {q.partition("::")[0] for q, record in _records.items() if record.exists})


def record(qualname):
    """The record of an operator, made if need be."""
    found = _records.get(qualname)
    if found is None:
        found = _records[qualname] = Record(qualname, exists=_built_in(qualname))
    return found


def define(text, fresh_results=False, stands_before_built_in=False):
    """Defines an operator; its full name. `fresh_results`: results that share memory with arguments are an error."""
    parsed = schemas.parse(text)
    qualname = parsed.name + (f".{parsed.overload_name}" if parsed.overload_name else "")
    if exists(qualname) and not stands_before_built_in:
        raise RuntimeError(
            f"Tried to register an operator ({parsed}) with the same name and overload name multiple times."
        )
    _C._define_operator(qualname, schemas.native_arguments(parsed), str(parsed), fresh_results)
    made = record(qualname)
    made.schema, made.exists = parsed, True
    made.resolve()
    _tell_packets(qualname)
    return qualname


def forget(qualname):
    """Takes back a definition. Kernels that others registered stay, for a later one."""
    found = _records.get(qualname)
    if found is None or found.schema is None:
        return
    _C._forget_operator(qualname)
    found.schema, found.exists = None, False
    vmap_rules.pop(qualname, None)
    _tell_packets(qualname)


def _tell_packets(qualname):
    from vivace import _ops

    _ops.refresh(*qualname.partition(".")[0].split("::"))


def impl(qualname, key, function, how="kernel"):
    """Registers a kernel; what takes it back."""
    if function is fallthrough_kernel:
        function, how = None, "fallthrough"
    where = record(qualname)
    entry = (function, how)
    where.kernels.setdefault(key, []).append(entry)
    where.resolve()

    def undo():
        entries = where.kernels[key]
        for at, known in enumerate(entries):
            if known is entry:
                del entries[at]
                where.resolve()
                return

    return undo


def has_own(qualname, key):
    """Whether an operator has a kernel for a native key that Python did not register."""
    return _C._has_kernel(qualname, PLACES[key])


def fallback(key, function, how="kernel"):
    """Registers a kernel for all operators without one for this key; what takes it back."""
    before = _fallbacks.get(key)

    def put(value):
        if value is None:
            _fallbacks.pop(key, None)
        else:
            _fallbacks[key] = value
        if key == "PrivateUse1":
            _C._set_backend_fallback(_native_fallback(value))
        else:
            for name, overloads in catalogue().items():
                for overload in overloads:
                    qualname = f"aten::{name}" + (f".{overload}" if overload else "")
                    if not has_own(qualname, key):
                        record(qualname)
        for known in list(_records.values()):
            known.resolve()

    put((None, "fallthrough") if function is fallthrough_kernel else (function, how))
    return lambda: put(before)


def _native_fallback(value):
    """What the private backend's operators without a kernel call: nothing stands below it that could take over."""
    if value is None or value[1] == "fallthrough":
        return None
    function, how = value
    if how != "keyset":
        return function
    return lambda op, *args, **kwargs: function(DispatchKeySet(DispatchKey.PrivateUse1), op, *args, **kwargs)

"""Which callable an operator runs for which dispatch key: the kernels that Python registered, by PyTorch's names of
keys, are turned into entries of the native tables. Alias keys stand behind exact ones, fallbacks behind both.
"""

from dataclasses import dataclass, field
from typing import Any

from vivace import _C
from vivace._library import schema as schemas
from vivace._library.keys import BACKENDS, FORWARD_AD, PLACES

_ALIASES = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_SAME = {
    **dict.fromkeys(("AutogradCPU", "AutogradCUDA", "AutogradPrivateUse1", "AutogradMeta"), "Autograd"),
    "Autocast": "AutocastCPU",
}
_WITHOUT = {
    "ADInplaceOrView": "versions and views are kept by the dispatcher itself",
    "BackendSelect": "a device argument selects the backend by itself",
    "FuncTorchBatched": "torch.library.register_vmap registers what an operator does in vmap",
    "Python": "dispatch modes are not there yet",
}


def fallthrough_kernel():
    """Registered for a key, it lets calls through to the next one."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def key_of(name):
    """PyTorch's name of a dispatch key, as kernels are kept by it."""
    name = _SAME.get(name, name)
    if name in PLACES or name in _ALIASES:
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
        names = (key, *_ALIASES) if key in BACKENDS else (key,)
        for name in names:
            if self.kernels.get(name):
                return self.kernels[name][-1]
        fallback = _fallbacks.get(key)
        if fallback is None or has_own(self.qualname, key):
            return None
        if fallback is fallthrough_kernel:
            return (None, "fallthrough")
        return (_bound(fallback, self.qualname), "kernel")

    def resolve(self):
        """Writes the native table."""
        if not self.exists:
            return
        for key, number in PLACES.items():
            function, how = self.find(key) or (None, "original")
            _C._set_kernel(self.qualname, number, function, how)
        if self.schema is not None:
            how = "fallthrough" if self._passes_tangents() else "original"
            _C._set_kernel(self.qualname, FORWARD_AD, None, how)

    def _passes_tangents(self):
        """Whether what its kernel calls sees tangents: it is made of operators, or has a kernel for Autograd that does
        more than to record. Others refuse forward mode.
        """
        autograd = self.kernels.get("Autograd")
        if autograd:
            return autograd[-1][1] != "record"
        used = next((name for name in ("CPU", *_ALIASES) if self.kernels.get(name)), None)
        return used == "CompositeImplicitAutograd"


_records: dict[str, Record] = {}
_fallbacks: dict[str, Any] = {}
vmap_rules: dict[str, Any] = {}  # by full name
_catalogue: dict[str, list[str]] = {}


def _bound(fallback, qualname):
    def kernel(*args, **kwargs):
        from vivace._ops import overload

        return fallback(overload(qualname), *args, **kwargs)

    return kernel


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
    found = list(catalogue().get(name, ())) if namespace == "aten" else []
    prefix = f"{namespace}::{name}"
    for qualname, record in _records.items():
        if record.exists and record.schema is not None and qualname.partition(".")[0] == prefix:
            found.append(qualname.partition(".")[2])
    return found


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


def define(text, fresh_results=False):
    """Defines an operator; its full name. `fresh_results`: results that share memory with arguments are an error."""
    parsed = schemas.parse(text)
    qualname = parsed.name + (f".{parsed.overload_name}" if parsed.overload_name else "")
    if exists(qualname):
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


def fallback(key, function):
    """Registers a kernel for all operators without one for this key; what takes it back."""
    before = _fallbacks.get(key)

    def put(value):
        if value is None:
            _fallbacks.pop(key, None)
        else:
            _fallbacks[key] = value
        for name, overloads in catalogue().items():
            for overload in overloads:
                qualname = f"aten::{name}" + (f".{overload}" if overload else "")
                if not has_own(qualname, key):
                    record(qualname)
        for known in list(_records.values()):
            known.resolve()

    put(function)
    return lambda: put(before)

"""torch.ops: operators by the names of their schemas, `torch.ops.aten.add.Tensor(a, b)`. A packet is all overloads of a
name, and calls the first that fits; both are native callables.
"""

from types import ModuleType

from vivace import _C
from vivace._library import registry
from vivace._library import schema as schemas


def _qualname(packet_name, overload):
    return packet_name if overload == "" else f"{packet_name}.{overload}"


class OpOverload(_C._OpCall):
    """One operator."""

    def __init__(self, packet, overload):
        self._overloadpacket = packet
        self._name = _qualname(packet._qualified_op_name, overload)
        self.namespace, self._opname = packet._qualified_op_name.split("::")
        self._overloadname = overload or "default"
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__qualname__ = self._name
        self.__module__ = packet.__module__
        self.tags = []
        by_number = overload.replace("Tensor", "Scalar")  # a number may stand for a tensor of no dims
        twin = by_number != overload and by_number in packet._overload_names
        self._set_operators(self._name, *([_qualname(packet._qualified_op_name, by_number)] if twin else []))

    @property
    def _schema(self):
        return schemas.of_operator(self._name)

    @property
    def is_view(self):
        """Whether results are views of an argument, and nothing is written to."""
        aliased = [a.alias_info for a in self._schema.arguments if a.alias_info is not None]
        return bool(aliased) and not any(alias.is_write for alias in aliased)

    @property
    def _namespace(self):
        return self.namespace

    @property
    def overloadpacket(self):
        return self._overloadpacket

    def name(self):
        """`mylib::scale`, `aten::add.Tensor`."""
        return self._name

    def redispatch(self, keyset, /, *args, **kwargs):
        """The call, with the keys of a set and no others: a kernel that was given its set calls what is below it."""
        return self._redispatch(keyset.native, *args, **kwargs)

    def has_kernel_for_dispatch_key(self, key):
        """Whether a call with this key alone would run a kernel."""
        key = registry.key_of(str(key).rpartition(".")[2])
        found = registry.record(self._name)
        return bool(found.kernels.get(key)) or (
            key in registry.BACKENDS and _C._has_kernel(self._name, registry.BACKENDS[key])
        )

    def __str__(self):
        return f"{self.namespace}.{self._opname}.{self._overloadname}"

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __deepcopy__(self, memo):
        return self


class OpOverloadPacket(_C._OpCall):
    """All overloads of a name."""

    def __init__(self, namespace, name):
        self._qualified_op_name = f"{namespace}::{name}"
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self._refresh()

    def _refresh(self):
        namespace, name = self._qualified_op_name.split("::")
        self._overload_names = registry.overloads(namespace, name)
        self._set_operators(*(_qualname(self._qualified_op_name, o) for o in self._overload_names))
        for cached in [k for k, v in vars(self).items() if isinstance(v, OpOverload)]:
            delattr(self, cached)

    def overloads(self):
        """Names of the overloads."""
        return [name or "default" for name in self._overload_names]

    def __getattr__(self, key):
        overload = "" if key == "default" else key
        if key.startswith("__") or overload not in self._overload_names:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        made = OpOverload(self, overload)
        setattr(self, key, made)
        return made

    def __iter__(self):
        return iter(self.overloads())

    def __dir__(self):
        return [*super().__dir__(), *self.overloads()]

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"

    def __deepcopy__(self, memo):
        return self


class OpNamespace(ModuleType):
    """The operators of one library: `torch.ops.mylib`."""

    def __init__(self, name):
        super().__init__(f"torch.ops.{name}")
        self._namespace = name

    def __getattr__(self, name):
        if self._namespace == "aten" and not registry.overloads("aten", name):
            import vivace._dispatch  # noqa: F401 - defines operators of PyTorch that the catalogue has not
        if not registry.overloads(self._namespace, name):
            raise AttributeError(f"'_OpNamespace' '{self._namespace}' object has no attribute '{name}'")
        packet = OpOverloadPacket(self._namespace, name)
        setattr(self, name, packet)
        return packet

    def __dir__(self):
        return registry.names(self._namespace)

    def __iter__(self):
        return iter(registry.names(self._namespace))


_OpNamespace = OpNamespace
_namespaces: dict[str, OpNamespace] = {}


def namespace(name):
    """The one object for a namespace, which may be empty as yet."""
    found = _namespaces.get(name)
    if found is None:
        found = _namespaces[name] = OpNamespace(name)
    return found


def overload(qualname):
    """The OpOverload of a full name ("aten::add.Tensor"); RuntimeError if there is none."""
    library, _, rest = qualname.partition("::")
    name, _, which = rest.partition(".")
    try:
        return getattr(getattr(namespace(library), name), which or "default")
    except AttributeError:
        raise RuntimeError(f"operator {qualname} does not exist") from None


def refresh(library, name):
    """A definition came or went: a packet that programs hold learns of it."""
    where = _namespaces.get(library)
    packet = where and vars(where).get(name)
    if packet is None:
        return
    packet._refresh()
    if not packet._overload_names:
        delattr(where, name)

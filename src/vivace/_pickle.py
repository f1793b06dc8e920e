"""Pickles as checkpoints hold them: vivace's names are written as torch's and read back, storages stand apart.

SafeReader makes only what it knows to be harmless: its find_class hands out nothing else, and it sets the state of
nothing but what it allows.
"""

import _codecs
import _compat_pickle
import collections
import importlib
import pickle
import pickletools
import sys
import types

from vivace import _C, _utils
from vivace.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage

_STORAGE_DTYPES = {name: kind.dtype for name, kind in LEGACY_CLASSES.items()}


class _StorageType:
    """Stands for a class like torch.FloatStorage in a pickle."""

    def __init__(self, module, name, dtype):
        self.module = module
        self.name = name
        self.dtype = dtype


_UNTYPED = _StorageType("torch.storage", "UntypedStorage", _C.uint8)
_TYPED = {dtype: _StorageType("torch", name, dtype) for name, dtype in _STORAGE_DTYPES.items()}


# ---- writing


class Writer(pickle._Pickler):
    """Pickles an object. Then `storages` maps keys to the storages that belong to the file."""

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = {}
        self._keys = {}

    def persistent_id(self, obj):
        if not isinstance(obj, (TypedStorage, UntypedStorage)):
            return None
        storage = obj.untyped()
        key = self._keys.setdefault(storage._cdata, str(len(self._keys)))
        self.storages[key] = storage
        kind = _UNTYPED if obj is storage else _TYPED[obj.dtype]
        return ("storage", kind, key, "cpu", len(storage) // kind.dtype.itemsize)

    def reducer_override(self, obj):
        if isinstance(obj, _C.Tensor):
            own = type(obj).__reduce_ex__ is not _C.Tensor.__reduce_ex__
            return obj.__reduce_ex__(self.proto) if own else _reduce_tensor(obj)
        if isinstance(obj, _C.Size):
            return _C.Size, (tuple(obj),)
        if isinstance(obj, _C.device):
            return _C.device, (str(obj),)
        if isinstance(obj, _C.layout):
            return _get_layout, (str(obj),)
        if isinstance(obj, _StorageType):
            return obj.name
        return NotImplemented

    def save_global(self, obj, name=None):
        module, name = (obj.module, name) if isinstance(obj, _StorageType) else public_name(obj, name)
        if module.partition(".")[0] != "torch":
            super().save_global(obj, name)
            return
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def save_class(self, obj):
        if obj.__module__.partition(".")[0] == "vivace":
            self.save_global(obj)
        else:
            self.save_type(obj)

    dispatch = {**pickle._Pickler.dispatch, type: save_class, types.FunctionType: save_global}


def _get_layout(name):
    """What pickles of a layout call."""
    return _LAYOUTS[name]


_LAYOUTS = {f"torch.{name}": value for name, value in vars(_C).items() if isinstance(value, _C.layout)}
_get_layout.__module__ = "vivace.serialization"  # where PyTorch has it


def public_name(obj, name=None):
    """The module and the name under which a pickle holds a class or function: of vivace's, those that PyTorch knows."""
    name = name or getattr(obj, "__qualname__", None) or obj.__name__
    # Python 3.14's whichmodule imports the module, which need not be there under the name torch.
    module = getattr(obj, "__module__", None) or pickle.whichmodule(obj, name)
    package, dot, rest = _public_home(obj, name, module).partition(".")
    return ("torch" if package == "vivace" else package) + dot + rest, name


def _public_home(obj, name, module):
    """The module that offers what vivace keeps in a private one."""
    package, private, _ = module.partition("._")
    if not private or module == _utils.__name__:
        return module
    if package == "vivace":
        return package
    public = [m for m in sys.modules if m.startswith(f"{package}.") and "." not in m[len(package) + 1 :]]
    return next((home for home in (package, *public) if getattr(sys.modules[home], name, None) is obj), module)


def _reduce_tensor(t):
    if _C._is_wrapper(t):
        size, stride, offset = tuple(t.size()), t.stride(), t.storage_offset()
        arguments = (type(t), t.dtype, size, stride, offset, t.layout, t.device, t.requires_grad)
        return _utils._rebuild_from_type_v2, (_utils._rebuild_wrapper_subclass, type(t), arguments, dict(t.__dict__))
    if issubclass(type(t), _C.Parameter):
        arguments = (t.data, t.requires_grad, collections.OrderedDict())
        if t.__dict__:
            return _utils._rebuild_parameter_with_state, (*arguments, dict(t.__dict__))
        return _utils._rebuild_parameter, arguments
    if t.is_meta:
        return _utils._rebuild_meta_tensor_no_storage, (t.dtype, tuple(t.size()), t.stride(), t.requires_grad)
    if t.device.type != "cpu":
        arguments = (t.detach().cpu(), t.dtype, str(t.device), t.requires_grad)
        return _utils._rebuild_device_tensor_from_cpu_tensor, arguments
    layout = (t.storage_offset(), tuple(t.size()), t.stride())
    storage = t.untyped_storage()
    rebuild, options = _utils._rebuild_tensor_v3, (t.requires_grad, collections.OrderedDict(), t.dtype)
    if t.dtype in _TYPED:
        storage = TypedStorage(wrap_storage=storage, dtype=t.dtype)
        rebuild, options = _utils._rebuild_tensor_v2, options[:2]
    arguments = (storage, *layout, *options)
    if type(t) is _C.Tensor and not t.__dict__:
        return rebuild, arguments
    return _utils._rebuild_from_type_v2, (rebuild, type(t), arguments, dict(t.__dict__))


# ---- reading


def _storage_type(module, name):
    if module in ("torch", "torch.cuda") and name in _STORAGE_DTYPES:
        return _TYPED[_STORAGE_DTYPES[name]]
    return _UNTYPED if (module, name) == ("torch.storage", "UntypedStorage") else None


def _persistent_load(get_storage, pid):
    kind, storage_type, *rest = pid
    if kind == "module":  # an old file has the source of a module's class beside it
        return storage_type
    if kind != "storage" or not isinstance(storage_type, _StorageType):
        raise pickle.UnpicklingError(f"load: unknown persistent id of kind {kind!r}")
    key, location, numel, *part = rest
    if any(part):
        raise pickle.UnpicklingError("load: vivace does not read storages that are parts of others")
    storage = get_storage(key, location, numel * storage_type.dtype.itemsize)
    return storage if storage_type is _UNTYPED else TypedStorage(wrap_storage=storage, dtype=storage_type.dtype)


class Reader(pickle.Unpickler):
    """Makes whatever the pickle says. `get_storage(key, location, nbytes)` gives an UntypedStorage."""

    def __init__(self, file, get_storage, **options):
        super().__init__(file, **options)
        self._get_storage = get_storage

    def persistent_load(self, pid):
        return _persistent_load(self._get_storage, pid)

    def find_class(self, module, name):
        found = _storage_type(module, name)
        if found is not None:
            return found
        package, dot, rest = module.partition(".")
        if package != "torch":
            return super().find_class(module, name)
        try:
            obj = importlib.import_module(f"vivace{dot}{rest}")
            for part in name.split("."):
                obj = getattr(obj, part)
        except (ImportError, AttributeError):
            raise pickle.UnpicklingError(f"load: vivace does not have {module}.{name}") from None
        return obj


allowed = {}  # what add_safe_globals has added: the name in pickles -> object


def _latin1(text, encoding):
    """What pickles of bytes call; as codecs.encode it would take any codec."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"encoding {encoding!r} is not allowed")
    return _codecs.encode(text, encoding)


_SAFE = {
    "_codecs.encode": _latin1,
    "builtins.bytearray": bytearray,
    "builtins.complex": complex,
    "builtins.frozenset": frozenset,
    "builtins.set": set,
    "collections.Counter": collections.Counter,
    "collections.OrderedDict": collections.OrderedDict,
    "torch.Size": _C.Size,
    "torch.Tensor": _C.Tensor,
    "torch.device": _C.device,
    "torch.nn.parameter.Parameter": _C.Parameter,
    "torch.serialization._get_layout": _get_layout,
    **{f"torch.{name}": d for name, d in vars(_C).items() if isinstance(d, _C.dtype)},
    **{f"torch._utils.{name}": f for name, f in vars(_utils).items() if name.startswith("_rebuild")},
}
_STATEFUL = (collections.OrderedDict, collections.Counter)


def _harmless(module, name):
    """What a pickle may have under this name; None if nothing."""
    found = _storage_type(module, name)
    full = f"{module}.{name}"
    return found if found is not None else _SAFE.get(full, allowed.get(full))


def unsafe_globals(pickled):
    """Names in a pickle that SafeReader refuses. Nothing of it is run."""
    names, strings, memo = set(), [], {}
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name in ("GLOBAL", "INST"):
            names.add(tuple(argument.split(" ", 1)))
        elif opcode.name == "STACK_GLOBAL":
            names.add(tuple(strings[-2:]))
        elif opcode.name.endswith("UNICODE") or opcode.name == "BINUNICODE8":
            strings.append(argument)
        elif opcode.name.endswith("GET"):
            strings.append(memo.get(argument))
        elif opcode.name.endswith("PUT") or opcode.name == "MEMOIZE":
            memo[len(memo) if argument is None else argument] = strings[-1] if strings else None
    return sorted(f"{module}.{name}" for module, name in names if _harmless(module, name) is None)


class SafeReader(pickle._Unpickler):
    """Like Reader, but makes only tensors, numbers, strings, containers, and what is allowed."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def __init__(self, file, get_storage, **options):
        super().__init__(file, **options)
        self._get_storage = get_storage

    def persistent_load(self, pid):
        return _persistent_load(self._get_storage, pid)

    def find_class(self, module, name):
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        found = _harmless(module, name)
        if found is not None:
            return found
        raise pickle.UnpicklingError(
            f"Unsupported global: GLOBAL {module}.{name} was not an allowed global by default."
        )

    def load_build(self):
        kind = type(self.stack[-2])
        if kind not in _STATEFUL and kind not in allowed.values():
            raise pickle.UnpicklingError(f"The state of {kind.__module__}.{kind.__qualname__} may not be set.")
        super().load_build()

    dispatch[pickle.BUILD[0]] = load_build

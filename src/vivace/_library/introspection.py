"""What programs ask of the dispatcher by PyTorch's names in torch._C: the keys of a tensor, which kernels an operator
has, and what a thread's calls see.
"""

from vivace import _C
from vivace._library import registry
from vivace._library.keys import AUTOGRAD_OF, BACKENDS, PLACES, DispatchKey, DispatchKeySet

_ALIASES = (
    "Autograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)
_OF_DEVICE = {"cpu": "CPU", "meta": "Meta", "cuda": "CUDA"}


def _name(key):
    return key.name if isinstance(key, DispatchKey) else key


def _dispatch_keys(tensor):
    """The keys that a tensor brings to a call, as PyTorch has them: autograd's is there with and without grad."""
    backend = _dispatch_key_for_device(tensor.device.type)
    names = [backend, "ADInplaceOrView", f"Autograd{backend}"]
    if backend != "Meta":
        names.append(f"Autocast{backend}")
    if _C._tensor_keys(tensor) >> PLACES["Python"] & 1:
        names.append("Python")
    return DispatchKeySet(*(DispatchKey[n] for n in names))


def _dispatch_key_for_device(device_type):
    if device_type == _C._get_privateuse1_backend_name():
        return "PrivateUse1"
    return _OF_DEVICE[device_type]


def _dispatch_key_name(key):
    return _name(key)


def _dispatch_key_parse(name):
    try:
        return DispatchKey[name]
    except KeyError:
        raise RuntimeError(f"could not parse dispatch key: {name}") from None


def _dispatch_is_alias_key(key):
    return _name(key) in _ALIASES


def _dispatch_is_included_in_alias(key, alias):
    key, alias = _name(key), _name(alias)
    if alias == "Autograd":
        return key.startswith("Autograd")
    return key in BACKENDS or (alias == "CompositeImplicitAutograd" and key.startswith("Autograd"))


def _dispatch_has_kernel(qualname):
    """Whether there is an operator of that name, with any kernel at all."""
    return registry.exists(qualname)


def _registered(qualname, name):
    """Whether a kernel stands there for exactly this key."""
    found = registry.record(qualname)
    if found.kernels.get(name):
        return True
    if found.schema is not None or not found.exists or name == "PrivateUse1":
        return False  # built-in operators serve every private backend by kernels that are nobody's in particular
    return name in BACKENDS and registry.has_own(qualname, name) and not _C._is_composite(qualname)


def _dispatch_has_kernel_for_dispatch_key(qualname, key):
    if _dispatch_is_alias_key(key):
        raise RuntimeError("Alias keys do not have runtime kernel registrations.")
    return _registered(qualname, _name(key))


def _dispatch_has_computed_kernel_for_dispatch_key(qualname, key):
    """The same with what aliases, fallbacks and composites bring."""
    name = _name(key)
    if _dispatch_has_kernel_for_dispatch_key(qualname, name):
        return True
    if name in AUTOGRAD_OF:
        return True
    found = registry.record(qualname)
    if not found.exists or name not in PLACES:
        return False
    if found.find(name) is not None or registry.has_own(qualname, name):
        return True
    return name in BACKENDS and found.schema is None and _C._is_composite(qualname)


def _dispatch_kernel_for_dispatch_key_is_fallthrough(qualname, key):
    found = registry.record(qualname).find(_name(key))
    return found is not None and found[1] == "fallthrough"


def _dispatch_has_backend_fallback(key):
    return registry.has_fallback(_name(key))


def _dispatch_get_all_op_names():
    return registry.all_names()


def _dispatch_get_registrations_for_dispatch_key(name=""):
    """Operators with a kernel for a key."""
    return [qualname for qualname in registry.all_names() if not name or _registered(qualname, name)]


def _dispatch_dump(qualname):
    """The kernels that an operator has, a line each."""
    schema = registry.schema_text(qualname)
    lines = [f"name: {qualname.partition('.')[0]}", f"schema: {schema}"]
    for name in (*BACKENDS, *AUTOGRAD_OF, *(key.name for key in DispatchKey if key.name in _ALIASES)):
        kernels = registry.record(qualname).kernels.get(name)
        if kernels:
            function, how = kernels[-1]
            lines.append(f"{name}: {how} {getattr(function, '__qualname__', '')}".rstrip())
        elif name in BACKENDS and _registered(qualname, name):
            lines.append(f"{name}: built in")
    return "\n".join(lines) + "\n"


def _dispatch_tls_local_include_set():
    return DispatchKeySet.of_mask(_C._included_keys())


def _dispatch_tls_local_exclude_set():
    return DispatchKeySet.of_mask(_C._excluded_keys())


def _dispatch_tls_is_dispatch_key_excluded(key):
    return _dispatch_tls_local_exclude_set().has(key)


def _dispatch_tls_is_dispatch_key_included(key):
    return _dispatch_tls_local_include_set().has(key)


def _dispatch_tls_set_dispatch_key_excluded(key, desired):
    mask, given = _C._excluded_keys(), DispatchKeySet(key).native
    _C._exclude_keys(mask | given if desired else mask & ~given)


def _dispatch_keyset_full_after(key):
    """All keys below one."""
    place = PLACES.get(_name(key), PLACES["Autograd"])
    return DispatchKeySet.of_mask((1 << place) - 1)


for _function in [f for name, f in list(globals().items()) if name.startswith("_dispatch_")]:
    setattr(_C, _function.__name__, _function)

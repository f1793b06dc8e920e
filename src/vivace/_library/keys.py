"""Dispatch keys as programs name them, sets of them, and scopes that hide them from a thread's calls: what PyTorch
keeps in torch._C.
"""

from enum import Enum

from vivace import _C


class DispatchKey(Enum):
    """PyTorch's names."""

    CPU = "CPU"
    CUDA = "CUDA"
    Meta = "Meta"
    PrivateUse1 = "PrivateUse1"
    Autograd = "Autograd"
    AutogradCPU = "AutogradCPU"
    AutogradCUDA = "AutogradCUDA"
    AutogradMeta = "AutogradMeta"
    AutogradPrivateUse1 = "AutogradPrivateUse1"
    AutogradOther = "AutogradOther"
    ADInplaceOrView = "ADInplaceOrView"
    AutocastCPU = "AutocastCPU"
    AutocastCUDA = "AutocastCUDA"
    AutocastXPU = "AutocastXPU"
    BackendSelect = "BackendSelect"
    FuncTorchBatched = "FuncTorchBatched"
    Python = "Python"
    CompositeImplicitAutograd = "CompositeImplicitAutograd"
    CompositeExplicitAutograd = "CompositeExplicitAutograd"
    CompositeExplicitAutogradNonFunctional = "CompositeExplicitAutogradNonFunctional"


# The native places of keys, as in runtime/dispatch/keys.h.
BACKENDS = {"CPU": 0, "Meta": 1, "CUDA": 2, "PrivateUse1": 3}
PLACES = {**BACKENDS, "Autograd": 8, "AutocastCPU": 12}
_BITS = {
    **{name: 1 << place for name, place in PLACES.items()},
    **{key.name: 1 << PLACES["Autograd"] for key in DispatchKey if key.name.startswith("Autograd")},
}


class DispatchKeySet:
    """A set of keys."""

    def __init__(self, *keys):
        self._keys = frozenset(keys)

    @property
    def mask(self):
        """The native bits; keys that vivace does without have none."""
        bits = 0
        for key in self._keys:
            bits |= _BITS.get(key.name, 0)
        return bits

    def has(self, key):
        return key in self._keys

    def add(self, key):
        return DispatchKeySet(*self._keys, key)

    def remove(self, key):
        return DispatchKeySet(*(self._keys - {key}))

    def __or__(self, other):
        return DispatchKeySet(*(self._keys | other._keys))

    def __and__(self, other):
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other):
        return DispatchKeySet(*(self._keys - other._keys))

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self):
        return hash(self._keys)

    def __repr__(self):
        names = [key.name for key in DispatchKey if key in self._keys]
        return f"DispatchKeySet({', '.join(names)})"


class _ExcludeDispatchKeyGuard:
    """A scope in which calls of this thread don't see the keys of a set."""

    def __init__(self, keys):
        self._mask = keys.mask

    def __enter__(self):
        self._before = _C._exclude_keys(_C._excluded_keys() | self._mask)
        return self

    def __exit__(self, *exception):
        _C._exclude_keys(self._before)


class _AutoDispatchBelowAutograd(_ExcludeDispatchKeyGuard):
    """A scope in which nothing is recorded: a kernel for Autograd calls its operator again in it."""

    def __init__(self):
        super().__init__(DispatchKeySet(DispatchKey.Autograd))


for _thing in (DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard, _AutoDispatchBelowAutograd):
    setattr(_C, _thing.__name__, _thing)

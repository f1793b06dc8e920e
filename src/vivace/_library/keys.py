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
    ADInplaceOrView = "ADInplaceOrView"
    Autograd = "Autograd"
    AutogradCPU = "AutogradCPU"
    AutogradCUDA = "AutogradCUDA"
    AutogradMeta = "AutogradMeta"
    AutogradPrivateUse1 = "AutogradPrivateUse1"
    AutogradOther = "AutogradOther"
    AutocastCPU = "AutocastCPU"
    AutocastCUDA = "AutocastCUDA"
    AutocastXPU = "AutocastXPU"
    AutocastPrivateUse1 = "AutocastPrivateUse1"
    BackendSelect = "BackendSelect"
    FuncTorchBatched = "FuncTorchBatched"
    Python = "Python"
    CompositeImplicitAutograd = "CompositeImplicitAutograd"
    CompositeExplicitAutograd = "CompositeExplicitAutograd"
    CompositeExplicitAutogradNonFunctional = "CompositeExplicitAutogradNonFunctional"


# The native places of keys, as in runtime/dispatch/keys.h.
BACKENDS = {"CPU": 0, "Meta": 1, "CUDA": 2, "PrivateUse1": 3}
FORWARD_AD = 14
PLACES = {**BACKENDS, "Python": 6, "Autograd": 8, "AutocastCPU": 12}
# Keys of autograd for tensors of one kind of device, by the devices' bits.
AUTOGRAD_OF = {f"Autograd{name}": 1 << place for name, place in BACKENDS.items()}
# Names that stand for another key here: autocast is one layer for all devices.
PYTORCH_NAMES = dict.fromkeys(("Autocast", "AutocastCUDA", "AutocastXPU", "AutocastPrivateUse1"), "AutocastCPU")
PYTHON = (4, 6)  # of tensors without memory; of calls that Python sees
_WITHOUT = [key.name for key in DispatchKey if key.name not in PLACES and not key.name.startswith("Autograd")]
_BITS = {
    **{key.name: 1 << PLACES["Autograd"] for key in DispatchKey if key.name.startswith("Autograd")},
    **{name: 1 << place for name, place in PLACES.items()},
    **{name: 1 << 32 + at for at, name in enumerate(_WITHOUT)},  # keys that are only members of sets
}


class DispatchKeySet:
    """A set of keys. `mask` has their native bits, and bits above these for keys that vivace does without."""

    def __init__(self, *keys):
        self.mask = 0
        for key in keys:
            self.mask |= _BITS[key.name]

    @classmethod
    def of_mask(cls, mask):
        made = cls()
        made.mask = mask
        return made

    @property
    def native(self):
        """The bits that the dispatcher knows."""
        return self.mask & 0xFFFFFFFF

    def has(self, key):
        of_device = AUTOGRAD_OF.get(key.name, 0)  # AutogradCPU is Autograd's bit, of tensors with the CPU's
        devices = self.mask & ((1 << len(BACKENDS)) - 1)
        return bool(self.mask & _BITS[key.name]) and (not of_device or not devices or bool(devices & of_device))

    def add(self, key):
        return DispatchKeySet.of_mask(self.mask | _BITS[key.name])

    def remove(self, key):
        return DispatchKeySet.of_mask(self.mask & ~_BITS[key.name])

    def __or__(self, other):
        return DispatchKeySet.of_mask(self.mask | other.mask)

    def __and__(self, other):
        return DispatchKeySet.of_mask(self.mask & other.mask)

    def __sub__(self, other):
        return DispatchKeySet.of_mask(self.mask & ~other.mask)

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self.mask == other.mask

    def __hash__(self):
        return hash(self.mask)

    def __repr__(self):
        names = [key.name for key in DispatchKey if self.has(key)]
        exact = any(name in AUTOGRAD_OF for name in names) and self.mask & ((1 << len(BACKENDS)) - 1)
        return f"DispatchKeySet({', '.join(n for n in names if not exact or n not in ('Autograd', 'AutogradOther'))})"


class _ExcludeDispatchKeyGuard:
    """A scope in which calls of this thread don't see the keys of a set."""

    def __init__(self, keys):
        self._mask = keys.native

    def __enter__(self):
        self._before = _C._exclude_keys(_C._excluded_keys() | self._mask)
        return self

    def __exit__(self, *exception):
        _C._exclude_keys(self._before)


class _AutoDispatchBelowAutograd(_ExcludeDispatchKeyGuard):
    """A scope in which nothing is recorded: a kernel for Autograd calls its operator again in it."""

    def __init__(self):
        super().__init__(DispatchKeySet(DispatchKey.Autograd))


class _DisableTorchDispatch(_ExcludeDispatchKeyGuard):
    """A scope in which neither modes nor classes see calls."""

    def __init__(self):
        self._mask = 1 << PYTHON[1]


for _thing in (
    DispatchKey,
    DispatchKeySet,
    _ExcludeDispatchKeyGuard,
    _AutoDispatchBelowAutograd,
    _DisableTorchDispatch,
):
    setattr(_C, _thing.__name__, _thing)
_C._after_autograd_keyset = DispatchKeySet.of_mask((1 << PLACES["Autograd"]) - 1)
_C._after_ADInplaceOrView_keyset = _C._after_autograd_keyset

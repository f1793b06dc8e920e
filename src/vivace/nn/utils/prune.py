"""Pruning: a pruned tensor NAME is NAME_orig, which is trained, times NAME_mask, computed before each forward.

Pruning a tensor again adds a method to its container, which lets the method see only what is still there.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from numbers import Integral, Number

import vivace

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _hook_of(module, name):
    """(id, method) of what prunes the tensor, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


class BasePruningMethod(ABC):
    """Says by `compute_mask` what stays. PRUNING_TYPE is "unstructured", "structured" (then `dim` says along which
    dimension whole slices go) or "global".
    """

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for a tensor of importances, which removes elements beyond those that default_mask does."""

    def apply_mask(self, module):
        """The module's pruned tensor."""
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        orig = module._parameters[name + "_orig"]
        return module._buffers[name + "_mask"].to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter of a module, and before each forward again; gives the method, or its container."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        found = _hook_of(module, name)
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs "
                f"{tensor.shape}"
            )
        if found is None:
            mask = method.compute_mask(scores, default_mask=vivace.ones_like(tensor))
            del module._parameters[name]
            module.register_parameter(name + "_orig", tensor)
        else:
            key, before = found
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
            mask = method.compute_mask(scores, default_mask=getattr(module, name + "_mask").detach().clone())
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A tensor, pruned according to its own values or to given importances."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, default_mask=vivace.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Makes the pruned tensor a parameter of the module again."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        orig.data = pruned.data
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Methods that prune one tensor, one after the other."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        there = self._left_for(method, t, default_mask)
        mask = default_mask.clone()
        mask[there] = method.compute_mask(t[there], default_mask=mask[there]).to(mask.dtype)
        return mask

    @staticmethod
    def _left_for(method, t, mask):
        """The index of what a method may still prune."""
        if method.PRUNING_TYPE == "unstructured":
            return mask == 1
        if method.PRUNING_TYPE == "global":
            return slice(None)
        if method.PRUNING_TYPE != "structured":
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        if not hasattr(method, "dim"):
            raise AttributeError(
                "Pruning methods of PRUNING_TYPE 'structured' need to have the attribute `dim` defined."
            )
        dim = method.dim % t.dim()
        kept = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
        return (slice(None),) * dim + (kept,)


# ---- methods


class _Amount:
    """How much goes: a fraction (float) or a number (int)."""

    def __init__(self, amount):
        if not isinstance(amount, Number):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or (amount > 1 and not isinstance(amount, Integral)):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def _number_of(self, size):
        if not isinstance(self.amount, Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
        return int(self.amount)


def _check_structured(t, dim):
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _slices(mask, dim, kept):
    """The mask without the slices along a dimension that are not kept."""
    shape = [1] * mask.dim()
    shape[dim] = -1
    return mask * kept.to(mask.dtype).reshape(shape)


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class _Unstructured(_Amount, BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._number_of(t.nelement())
        mask = default_mask.clone(memory_format=vivace.contiguous_format)
        if count:
            mask.view(-1)[vivace.topk(self._ranks(t).reshape(-1), k=count).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements by chance."""

    def _ranks(self, t):
        return vivace.rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the elements of the smallest magnitude."""

    def _ranks(self, t):
        return -t.detach().abs()


class RandomStructured(_Amount, BasePruningMethod):
    """Prunes slices along a dimension by chance."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = self._number_of(size)
        if count == 0:
            return default_mask
        draws = vivace.rand(size)
        return _slices(default_mask, self.dim, draws > vivace.kthvalue(draws, k=count).values)


class LnStructured(_Amount, BasePruningMethod):
    """Prunes the slices along a dimension of the smallest n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = self._number_of(size)
        if count == 0:
            return default_mask
        dim = self.dim % t.dim()
        norms = vivace.norm(t.detach(), p=self.n, dim=[d for d in range(t.dim()) if d != dim])
        kept = vivace.zeros(size, dtype=vivace.bool, device=t.device)
        kept[vivace.topk(norms, k=size - count).indices] = True
        return _slices(default_mask, self.dim, kept)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask does."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask shape {self.mask.shape} must match the tensor's {default_mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ---- functions


def identity(module, name):
    """Prunes nothing, but makes the tensor a pruned one."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements of a parameter by chance."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of the smallest magnitude, or importance."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes slices along a dimension by chance."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the slices along a dimension of the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes what a given mask does."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes elements of all (module, name) pairs together, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    given = importance_scores or {}
    tensors = [getattr(module, name) for module, name in parameters]
    scores = [given.get(pair, tensor) for pair, tensor in zip(parameters, tensors, strict=True)]
    masks = [
        getattr(module, name + "_mask", vivace.ones_like(tensor))
        for (module, name), tensor in zip(parameters, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "all"
    scores, mask = (vivace.cat([t.detach().reshape(-1) for t in ts]) for ts in (scores, masks))
    mask = PruningContainer(method).compute_mask(scores, mask)
    parts = mask.split([t.numel() for t in tensors])
    for (module, name), tensor, part in zip(parameters, tensors, parts, strict=True):
        custom_from_mask(module, name, part.reshape(tensor.shape))


def remove(module, name):
    """Makes a pruned tensor a parameter again, with the values that it has now."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module):
    """Whether a tensor of the module, or of one below it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod) for child in module.modules() for hook in child._forward_pre_hooks.values()
    )

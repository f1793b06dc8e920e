"""Methods of Tensor that are written in Python: copies, pickles, and what stands for older or other ways of PyTorch."""

import vivace
from vivace import _C

_TYPED_NAMES = {
    _C.bfloat16: "BFloat16",
    _C.bool: "Bool",
    _C.complex64: "ComplexFloat",
    _C.complex128: "ComplexDouble",
    _C.float16: "Half",
    _C.float32: "Float",
    _C.float64: "Double",
    _C.int8: "Char",
    _C.int16: "Short",
    _C.int32: "Int",
    _C.int64: "Long",
    _C.uint8: "Byte",
    _C.uint16: "UInt16",
    _C.uint32: "UInt32",
    _C.uint64: "UInt64",
}


def _copy_storage(tensor):
    """A uint8 tensor with the bytes of a tensor's storage."""
    source = _C._storage_bytes(tensor)
    copied = vivace.empty(len(source), dtype=_C.uint8)
    _C._storage_bytes(copied)[:] = source
    return copied


def __deepcopy__(self, memo):
    """A copy; tensors that share a storage share one after they were copied together."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Take .detach() first."
        )
    if self.is_meta:
        result = vivace.empty_like(self)
    else:
        key = ("storage", _C._storage_key(self))
        if key not in memo:
            memo[key] = _copy_storage(self)
        result = _C._tensor_over(memo[key], self.dtype, self.storage_offset(), self.size(), self.stride())
    if isinstance(self, _C.Parameter):
        result = type(self)(result, self.requires_grad)
    else:
        result = result.requires_grad_(self.requires_grad)
        if type(self) is not _C.Tensor:
            result = result.as_subclass(type(self))
    memo[id(self)] = result
    from copy import deepcopy

    if self.grad is not None:
        result.grad = deepcopy(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(deepcopy(self.__dict__, memo))
    return result


def __reduce_ex__(self, protocol):
    """Pickles hold the elements, not the storage: what was shared is not shared any more. torch.save keeps it."""
    from vivace._utils import _rebuild_from_bytes

    dense = self.detach().contiguous()
    start = dense.storage_offset() * dense.element_size()
    elements = bytes(_C._storage_bytes(dense)[start : start + dense.nbytes])
    # The classes themselves go by names of torch, which pickle would look up there.
    kind = {_C.Tensor: "Tensor", _C.Parameter: "Parameter"}.get(type(self), type(self))
    arguments = (kind, elements, self.dtype, tuple(self.size()), self.requires_grad)
    return _rebuild_from_bytes, arguments, self.__dict__ or None


def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


def type_(self, dtype=None, non_blocking=False):
    """The tensor's old typed name, torch.FloatTensor; or, with a dtype or such a name, the tensor converted."""
    if dtype is None:
        return f"torch.{_TYPED_NAMES[self.dtype]}Tensor"
    if isinstance(dtype, str):
        dtypes = {f"torch.{name}Tensor": d for d, name in _TYPED_NAMES.items()}
        if dtype not in dtypes:
            raise ValueError(f"type(): invalid type {dtype!r}")
        dtype = dtypes[dtype]
    return self.to(getattr(dtype, "dtype", dtype))


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Refuses."""
    raise RuntimeError("vivace runs on the CPU: there is no CUDA device for Tensor.cuda()")


def is_shared(self):
    """Whether other processes may see the memory: never here."""
    return False


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """As torch.unique."""
    return vivace.unique(self, sorted, return_inverse, return_counts, dim)


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """As torch.unique_consecutive."""
    return vivace.unique_consecutive(self, return_inverse, return_counts, dim)


def _first_override(func, args, kwargs):
    """Overridden calls load vivace.overrides, which takes them over."""
    from vivace.overrides import _call

    return _call(func, args, kwargs)


@classmethod
def __torch_function__(cls, func, types, args=(), kwargs=None):
    """Results of functions of a subclass's tensors are objects of the subclass."""
    from vivace.overrides import _tensor_torch_function

    return _tensor_torch_function(cls, func, types, args, kwargs)


class _TypedClass(type):
    """Classes like torch.FloatTensor: calling one makes a tensor of its dtype, isinstance asks for the dtype."""

    def __instancecheck__(cls, obj):
        return isinstance(obj, _C.Tensor) and obj.dtype == cls.dtype

    def __call__(cls, *args):
        if all(type(a) is int for a in args):
            return vivace.empty(args or 0, dtype=cls.dtype)
        (data,) = args
        if isinstance(data, _C.Size):
            return vivace.empty(data, dtype=cls.dtype)
        return vivace.tensor(data, dtype=cls.dtype)


def typed_classes():
    """torch.FloatTensor and its kin, by name."""
    names = {f"{name}Tensor": dtype for dtype, name in _TYPED_NAMES.items()}
    return {
        n: _TypedClass(n, (), {"dtype": d, "__module__": "torch", "__doc__": f"Tensors of {d}."})
        for n, d in names.items()
    }


def install():
    """Gives Tensor these methods."""
    for function in (__deepcopy__, __reduce_ex__, __reversed__, cuda, is_shared, unique, unique_consecutive):
        setattr(_C.Tensor, function.__name__, _C.overridable(function))
    _C.Tensor.type = _C.overridable(type_)
    _C.Tensor.__torch_function__ = __torch_function__
    _C._set_override_handler(_first_override)

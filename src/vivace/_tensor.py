"""Methods of Tensor that are written in Python: copies, pickles, and what stands for older or other ways of PyTorch."""

import math

import vivace
from vivace import _C
from vivace._legacy import TYPED_NAMES

_methods = {}  # what install() gives Tensor, by name


def _method(function=None, *, name=None):
    """Makes the function a method of Tensor."""
    if function is None:
        return lambda function: _method(function, name=name)
    if name:
        function.__name__ = function.__qualname__ = name
    _methods[function.__name__] = function
    return function


def _init_subclass(cls, **kwargs):
    super(_C.Tensor, cls).__init_subclass__(**kwargs)
    # Who sees operators below autograd sees no functions above it, as in PyTorch.
    default = _C.Tensor.__torch_function__.__func__
    dispatches = cls.__torch_dispatch__ is not _C._disabled_torch_dispatch_impl
    if dispatches and getattr(cls.__torch_function__, "__func__", None) is default:
        cls.__torch_function__ = _C._disabled_torch_function_impl


_C.Tensor.__init_subclass__ = classmethod(_init_subclass)


def _copied_wrapper(self, memo):
    """What the class makes of clone(), with copies of the attributes."""
    from copy import deepcopy

    result = self.clone()
    if type(result) is not type(self):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
            "properly implement clone() and return another instance of the same subclass."
        )
    memo[id(self)] = result.requires_grad_(self.requires_grad)
    if self.grad is not None:
        result.grad = deepcopy(self.grad, memo)
    result.__dict__.update(deepcopy(self.__dict__, memo))
    return result


@_method
def __deepcopy__(self, memo):
    """A copy; tensors that share a storage share one after they were copied together."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Take .detach() first."
        )
    if _C._is_wrapper(self):
        return _copied_wrapper(self, memo)
    if self.device.type in ("cpu", "meta"):
        storage = self.untyped_storage().__deepcopy__(memo)
        result = _C._tensor_over(self.dtype, storage, self.storage_offset(), self.size(), self.stride())
    else:
        result = self.detach().clone()
    if issubclass(type(self), _C.Parameter):
        result = type(self)(result, self.requires_grad)
    else:
        result = result.requires_grad_(self.requires_grad)
        if type(self) is not type(result):
            result = result.as_subclass(type(self))
    memo[id(self)] = result
    from copy import deepcopy

    if self.grad is not None and not issubclass(
        type(self), _C.Parameter
    ):  # as in PyTorch: copies of models start afresh
        result.grad = deepcopy(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(deepcopy(self.__dict__, memo))
    return result


def _repr_html_(self):
    """A summary for notebooks. No class gets to override the call: what can't be shown is seen to there."""
    from vivace._tensor_html import html

    return html(self)


@_method
def __reduce_ex__(self, protocol):
    """Tensors that share a storage share one after they were pickled together, and with their copy.copy."""
    from vivace._utils import _rebuild_on_device, _rebuild_plain, _rebuild_wrapper_subclass

    layout = (self.storage_offset(), tuple(self.size()), self.stride())
    if _C._is_wrapper(self):
        arguments = (type(self), self.dtype, *layout[1:], layout[0], self.layout, self.device, self.requires_grad)
        return _rebuild_wrapper_subclass, arguments, self.__dict__ or None
    # The classes themselves go by names of torch, which pickle would look up there.
    kind = {_C.Tensor: "Tensor", _C.Parameter: "Parameter"}.get(type(self), type(self))
    if self.device.type not in ("cpu", "meta"):
        arguments = (kind, self.detach().cpu(), str(self.device), self.requires_grad)
        return _rebuild_on_device, arguments, self.__dict__ or None
    arguments = (kind, self.untyped_storage(), *layout, self.requires_grad, self.dtype)
    return _rebuild_plain, arguments, self.__dict__ or None


@_method
def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


@_method(name="type")
def type_(self, dtype=None, non_blocking=False):
    """The tensor's old typed name, torch.FloatTensor; or, with a dtype or such a name, the tensor converted."""
    if dtype is None:
        return f"torch.{TYPED_NAMES[self.dtype]}"
    if isinstance(dtype, str):
        dtypes = {f"torch.{name}": d for d, name in TYPED_NAMES.items()}
        if dtype not in dtypes:
            if dtype.startswith("torch.cuda."):
                self.cuda()
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = dtypes[dtype]
    elif dtype is _C.Tensor:  # the default's typed class
        dtype = _C.get_default_dtype()
    return self.to(getattr(dtype, "dtype", dtype))


@_method
def storage(self):
    """The storage as elements of the tensor's dtype; untyped_storage() is what new programs use."""
    from vivace.storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


@_method
def storage_type(self):
    """The class like torch.FloatStorage of storage()."""
    return self.storage()._get_legacy_storage_class()


@_method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Gives the tensor the storage of `source` (a storage or a tensor; none: an empty one), in the layout named."""
    if isinstance(source, _C.Tensor):
        if source.dtype != self.dtype:
            raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
        if size is None:
            storage_offset, size, stride = source.storage_offset(), source.size(), source.stride()
        source = source.untyped_storage()
    elif source is None:
        source, size = vivace.empty(0, dtype=self.dtype, device=self.device).untyped_storage(), (0,)
    else:
        source = source.untyped()
        if size is None:
            size = (len(source) // self.element_size(),)
    if stride is None:
        stride = vivace.empty(size, device="meta").stride()
    return _C._set(self, source, storage_offset, tuple(size), tuple(stride))


@_method
def is_set_to(self, tensor):
    """Whether both tensors have the same storage and layout."""
    return self.untyped_storage()._cdata == tensor.untyped_storage()._cdata and (
        (self.storage_offset(), self.size(), self.stride()) == (tensor.storage_offset(), tensor.size(), tensor.stride())
    )


@_method
def is_same_size(self, other):
    """Whether both tensors have the same sizes."""
    return self.size() == other.size()


@_method
def dim_order(self, *, ambiguity_check=False):
    """The dims, outermost in memory first."""
    return tuple(sorted(range(self.dim()), key=lambda d: (-self.stride(d), d)))


@_method
def is_pinned(self, device=None):
    """Whether the memory is page-locked for an accelerator: never here."""
    return False


@_method
def pin_memory(self, device=None):
    """Refuses."""
    raise RuntimeError("Tensor.pin_memory() needs an accelerator; vivace runs on the CPU")


@_method
def is_conj(self):
    """Whether the elements are to be conjugated when read: never here, conj() does it at once."""
    return False


@_method
def is_neg(self):
    """Whether the elements are to be negated when read: never here."""
    return False


@_method
def is_distributed(self):
    """False."""
    return False


@_method
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Refuses."""
    return self.to("cuda")


@_method
def is_shared(self):
    """Whether other processes can share the memory."""
    return self.untyped_storage().is_shared()


@_method
def fill_diagonal_(self, fill_value, wrap=False):
    """Overwrites the elements whose indices are all equal; with wrap, of tall matrices again below a gap of one row."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    rows, columns = self.shape[0], self.shape[-1]
    if self.numel() == 0:
        return self
    for start in range(0, rows, columns + 1) if wrap and self.dim() == 2 else (0,):
        part = self.narrow(0, start, min(columns, rows - start))
        part.as_strided((min(part.shape),), (sum(part.stride()),), part.storage_offset()).fill_(fill_value)
    return self


@_method
def hardshrink(self, lambd=0.5):
    """As torch.hardshrink."""
    return vivace.nn.functional.hardshrink(self, lambd)


@_method
def float_power_(self, exponent):
    """As torch.float_power, in place: the tensor has to be of double precision."""
    double = vivace.complex128 if self.is_complex() else vivace.float64
    if self.dtype != double:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result requires {double}"
        )
    return self.pow_(exponent)


@_method
def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """As torch.unique."""
    return vivace.unique(self, sorted, return_inverse, return_counts, dim)


@_method
def stft(self, n_fft, *args, **kwargs):
    """As torch.stft."""
    return vivace.stft(self, n_fft, *args, **kwargs)


@_method
def istft(self, n_fft, *args, **kwargs):
    """As torch.istft."""
    return vivace.istft(self, n_fft, *args, **kwargs)


@_method
def lu(self, pivot=True, get_infos=False):
    """See torch.lu."""
    return vivace.functional.lu(self, pivot, get_infos)


@_method
def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """As torch.unique_consecutive."""
    return vivace.unique_consecutive(self, return_inverse, return_counts, dim)


# ---- what sparse tensors have, and dense ones answer


def _refuse_dense(name, layout, error=RuntimeError):
    def method(self, *args, **kwargs):
        raise error(f"{name} expected {layout} layout but got Strided")

    return _method(method, name=name)


_refuse_dense("values", "sparse tensor")
for _name in ("indices", "coalesce", "is_coalesced"):
    _refuse_dense(_name, "sparse coordinate tensor")
for _name in ("_indices", "_values", "_nnz"):
    _refuse_dense(_name, "sparse coordinate tensor", NotImplementedError)


@_method
def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself."""
    return self if dtype is None else self.to(dtype)


@_method
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """The elements that are not zero, with their indices, as a sparse tensor."""
    if layout not in (None, vivace.sparse_coo) or blocksize is not None:
        raise NotImplementedError("to_sparse(): vivace has the layout torch.sparse_coo only")
    from vivace.sparse._algebra import from_dense

    return from_dense(self, self.dim() - dense_dim if dense_dim is not None else sparse_dim)


@_method
def sparse_mask(self, mask):
    """The elements at the indices of a sparse tensor, as a sparse tensor."""
    from vivace.sparse._algebra import mask as masked

    return masked(self, mask)


@_method
def sparse_dim(self):
    return 0


@_method
def dense_dim(self):
    return self.dim()


# ---- older ways


@_method
def resize(self, *sizes):
    """The elements in another shape."""
    import warnings

    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    sizes = tuple(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)
    if math.prod(sizes) != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({math.prod(sizes)} elements in total), but the given "
            f"tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can "
            "only change the shape of a given tensor, while preserving the number of elements. "
        )
    return self.reshape(sizes)


@_method
def apply_(self, callable):
    """Replaces each element by callable(element): slow."""
    with vivace.no_grad():
        flat = vivace.tensor([callable(x) for x in self.flatten().tolist()], dtype=self.dtype)
        return self.copy_(flat.reshape(self.shape))


@_method
def map_(self, tensor, callable):
    """Replaces each element by callable(element, that of the other tensor): slow."""
    other = tensor.expand_as(self).flatten().tolist()
    with vivace.no_grad():
        pairs = zip(self.flatten().tolist(), other, strict=True)
        flat = vivace.tensor([callable(x, y) for x, y in pairs], dtype=self.dtype)
        return self.copy_(flat.reshape(self.shape))


@_method
def _is_view(self):
    return self._base is not None


def _removed(name, instead):
    def method(self, *args, **kwargs):
        raise RuntimeError(f"Tensor.{name}() was removed from PyTorch after version 1.9; use {instead}")

    return _method(method, name=name)


_removed("solve", "torch.linalg.solve(A, B), whose arguments are the other way round")
_removed("symeig", "torch.linalg.eigh(A)")
_removed("eig", "torch.linalg.eig(A)")
_removed("lstsq", "torch.linalg.lstsq(A, B), whose arguments are the other way round")


def _first_override(func, args, kwargs):
    """Overridden calls load vivace.overrides, which takes them over."""
    from vivace.overrides import _call

    return _call(func, args, kwargs)


@classmethod
def __torch_function__(cls, func, types, args=(), kwargs=None):
    """Results of functions of a subclass's tensors are objects of the subclass."""
    from vivace.overrides import _tensor_torch_function

    return _tensor_torch_function(cls, func, types, args, kwargs)


def install():
    """Gives Tensor these methods."""
    for name, function in _methods.items():
        function.__module__, function.__qualname__ = "vivace", f"Tensor.{name}"  # where pickles find it
        setattr(_C.Tensor, name, _C.overridable(function))
    _C.Tensor._typed_storage = _C.Tensor.storage
    _C.Tensor._repr_html_ = _repr_html_
    _C.Tensor._cdata = property(id, doc="A number that no other tensor has while this one lives.")
    _C.Tensor.__torch_function__ = __torch_function__
    _C._set_override_handler(_first_override)

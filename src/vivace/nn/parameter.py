"""Parameter, a tensor that modules list as theirs, and Buffer, one that they keep and save but don't train; both also
uninitialized, for modules that learn their shapes from the first input.
"""

from .. import _C

Tensor = _C.Tensor
Parameter = _C.Parameter

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",
]  # fmt: skip


class _BufferMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferMeta):
    """`self.x = Buffer(t)` in a module is `self.register_buffer("x", t)`; the result is a plain tensor with a mark."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            import vivace

            data = vivace.empty(0)
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor


def is_lazy(param):
    """Whether a tensor still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


# What may be done with a tensor without a shape: attributes are read and written, device and dtype change.
_ALLOWED = frozenset([
    "__get__", "__hash__", "__set__", "bfloat16", "char", "copy_", "cpu", "cuda", "double", "float", "get_device",
    "half", "int", "is_complex", "is_floating_point", "long", "requires_grad_", "short", "size", "to", "type",
])  # fmt: skip


class UninitializedTensorMixin:
    """What waits for its shape: of dtype and device, but refusing all that needs values."""

    def __new__(cls, requires_grad, device, dtype):
        import vivace

        data = vivace.empty(0, device=device, dtype=dtype)
        return data.as_subclass(cls).requires_grad_(requires_grad)

    def materialize(self, shape, device=None, dtype=None):
        """Becomes a plain parameter or buffer of that shape, whose values are not set."""
        import vivace

        device, dtype = (
            mine if given is None else given for mine, given in ((self.device, device), (self.dtype, dtype))
        )
        self.data = vivace.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        copy = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return copy

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.device, self.dtype)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in _ALLOWED:
            return super().__torch_function__(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return super().__new__(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = super().__new__(cls, requires_grad, device, dtype)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

"""Parameter, a tensor that modules list as theirs, and Buffer, one that they keep and save but don't train."""

from .. import _C

Tensor = _C.Tensor
Parameter = _C.Parameter

__all__ = ["Buffer", "Parameter"]


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

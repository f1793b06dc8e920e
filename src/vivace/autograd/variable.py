"""torch.autograd.variable: Variable, from the time when tensors did not record."""

from vivace import _C

__all__ = ["Variable"]


class _Engine:
    """What programs know as the engine: it takes callbacks for the end of the backward that is running."""

    queue_callback = staticmethod(_C._queue_callback)
    is_checkpoint_valid = staticmethod(lambda: not _C._run_is_selective())


class _VariableMeta(type):
    def __instancecheck__(cls, obj):
        return isinstance(obj, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of tensors that take part in autograd: calling it gives a tensor."""

    _execution_engine = _Engine()

    def __new__(cls, data, requires_grad=False, volatile=None):
        tensor = data.detach()
        return tensor.requires_grad_() if requires_grad else tensor

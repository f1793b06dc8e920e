"""torch.FloatTensor and its kin: classes from before tensors had dtypes."""

from vivace import _C

TYPED_NAMES = {dtype: f"{name}Tensor" for dtype, name in _C._scalar_type_names().items()}
"""Dtype to class name."""


class _TypedClass(type):
    """Classes like torch.FloatTensor: calling one makes a tensor of its dtype, isinstance asks for the dtype."""

    def __instancecheck__(cls, obj):
        return isinstance(obj, _C.Tensor) and obj.dtype == cls.dtype

    layout = _C.strided
    is_cuda = is_sparse = False

    def __call__(cls, *args, **kwargs):
        return _C._typed_new(cls.dtype, args, kwargs)


def typed_classes():
    """torch.FloatTensor and its kin, by name."""
    return {
        n: _TypedClass(n, (), {"dtype": d, "__module__": "torch", "__doc__": f"Tensors of {d}."})
        for d, n in TYPED_NAMES.items()
    }

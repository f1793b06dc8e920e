"""The functions that pickles of tensors call, under the names that PyTorch's have."""

import vivace
from vivace import _C


def _rebuild_tensor(storage, storage_offset, size, stride):
    return _C._tensor_over(storage.dtype, storage.untyped(), storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    return _C._tensor_over(dtype, storage.untyped(), storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    return vivace.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return _C.Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    return _set_state(_C.Parameter(data, requires_grad), state)


def _rebuild_sparse_tensor(layout, data):
    from vivace.sparse._coo import SparseTensor

    if layout is not _C.sparse_coo:
        raise NotImplementedError(f"vivace does not have tensors of layout {layout}")
    indices, values, size, *coalesced = data
    return SparseTensor._make(indices, values, size, *coalesced)


def _rebuild_from_type_v2(function, kind, args, state):
    result = function(*args)
    if type(result) is not kind:
        result = result.as_subclass(kind)
    return _set_state(result, state)


def _set_state(obj, state):
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in [*(attributes or {}).items(), *(slots or {}).items()]:
        setattr(obj, name, value)
    return obj


def _rebuild_generator(state):
    return _C.Generator().set_state(state)


def _rebuild_wrapper_subclass(kind, dtype, size, stride, storage_offset, layout, device, requires_grad):
    return _C.Tensor._make_wrapper_subclass(
        kind,
        size,
        strides=stride,
        storage_offset=storage_offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def _rebuild_plain(kind, storage, storage_offset, size, stride, requires_grad, dtype):
    """What plain pickles of tensors call. The extension's own classes go by name: they call themselves torch's."""
    kind = getattr(_C, kind) if isinstance(kind, str) else kind
    result = _C._tensor_over(dtype, storage, storage_offset, size, stride)
    if issubclass(kind, _C.Parameter):
        return kind(result, requires_grad)
    result.requires_grad_(requires_grad)
    return result if kind is _C.Tensor else result.as_subclass(kind)


def _rebuild_on_device(kind, data, device, requires_grad):
    """The same for tensors of a private backend, whose elements go by way of the CPU."""
    kind = getattr(_C, kind) if isinstance(kind, str) else kind
    result = data.to(device)
    if issubclass(kind, _C.Parameter):
        return kind(result, requires_grad)
    return result.requires_grad_(requires_grad)


def _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad):
    """What checkpoints hold of them; torch.load says where they go."""
    from vivace.serialization import _placed

    return data.to(device=_placed(device), dtype=dtype).requires_grad_(requires_grad)

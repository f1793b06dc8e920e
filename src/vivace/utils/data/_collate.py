"""Makes batches of samples: tensors are stacked, numbers become tensors, containers keep their form."""

import collections.abc
import sys

import vivace
from vivace import _C
from vivace.storage import UntypedStorage
from vivace.utils.data import _info


def _numpy():
    """NumPy, if the program uses it."""
    return sys.modules.get("numpy")


def _rebuild_mapping(like, items):
    try:
        return type(like)(items)
    except TypeError:  # a mapping that is not made from items
        return items


def _rebuild_sequence(like, items):
    try:
        return type(like)(items)
    except TypeError:  # range and the like
        return items


def _is_namedtuple(x):
    return isinstance(x, tuple) and hasattr(x, "_fields")


def default_convert(data):
    """Turns the NumPy arrays and scalars in a nested structure into tensors."""
    np = _numpy()
    if isinstance(data, (vivace.Tensor, str, bytes)):
        return data
    if np and isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else vivace.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _rebuild_mapping(data, {k: default_convert(v) for k, v in data.items()})
    if _is_namedtuple(data):
        return type(data)(*(default_convert(v) for v in data))
    if isinstance(data, collections.abc.Sequence):
        values = [default_convert(v) for v in data]
        return values if isinstance(data, tuple) else _rebuild_sequence(data, values)
    return data


def _stacked(tensors):
    """Stacked; in a worker in shared memory, where the batch goes anyway."""
    if _info.current is None or any(t.requires_grad for t in tensors):
        return vivace.stack(tensors, 0)
    first = tensors[0]
    storage = UntypedStorage._new_shared(len(tensors) * first.nbytes)
    size = (len(tensors), *first.size())
    stride = vivace.empty(size, device="meta").stride()
    return vivace.stack(tensors, 0, out=_C._tensor_over(first.dtype, storage, 0, size, stride))


def default_collate(batch):
    """Makes one batch of a list of samples, which are alike."""
    first = batch[0]
    if isinstance(first, vivace.Tensor):
        return _stacked(batch)
    np = _numpy()
    if np and isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind in "SUO":
            raise TypeError(f"default_collate: arrays of dtype {first.dtype} cannot become tensors")
        if isinstance(first, np.ndarray):
            return _stacked([vivace.as_tensor(b) for b in batch])
        return vivace.as_tensor(batch)
    if isinstance(first, float):
        return vivace.tensor(batch, dtype=vivace.float64)
    if isinstance(first, int):
        return vivace.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return _rebuild_mapping(first, {k: default_collate([sample[k] for sample in batch]) for k in first})
    if _is_namedtuple(first):
        return type(first)(*(default_collate(column) for column in zip(*batch, strict=True)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuild_sequence(first, columns)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        + type(first).__name__
    )

"""How tensors are pickled for another process: their memory moves to shared memory, and its name is sent.

Memory moves only if no other tensor uses it, since each knows where its elements lie; else the receiver gets a copy.
"""

from multiprocessing.reduction import ForkingPickler

from vivace import _C
from vivace.multiprocessing import _files
from vivace.storage import UntypedStorage


def _open(name, nbytes):
    """What pickles of storages call: their class goes by a name of torch, which pickle would look up there."""
    return UntypedStorage._open_shared(name, nbytes)


def reduce_storage(storage):
    """The name of the storage's memory, or of a copy of it."""
    if storage.device.type == "meta" or len(storage) == 0:
        return storage.__reduce__()
    name = storage._lend() if storage.is_shared() else None
    if name is None:
        copy = UntypedStorage._new_shared(len(storage))
        memoryview(copy)[:] = memoryview(storage)
        name = copy._lend()
    return _open, (name, len(storage))


def reduce_tensor(tensor):
    """As for other pickles, but that the memory is shared where it can be."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if tensor.device.type == "cpu" and tensor.numel() > 0:
        _C._move_to_shared_memory(tensor)
    return tensor.__reduce_ex__(2)


def init_reductions():
    """Tells Python's multiprocessing of them."""
    _files.start()
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(_C.Tensor, reduce_tensor)
    ForkingPickler.register(_C.Parameter, reduce_tensor)

"""Memory of the device: blocks of bytes that vivace asks for and hands around by an address, which only this file
turns into arrays.
"""

import itertools

import numpy as np
import torch

DTYPES = {
    torch.bool: np.bool_,
    torch.uint8: np.uint8,
    torch.uint16: np.uint16,
    torch.uint32: np.uint32,
    torch.uint64: np.uint64,
    torch.int8: np.int8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.float16: np.float16,
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
}

blocks = {}  # address -> (bytes, number of the device)
allocated = [0, 0]  # bytes in use on each device
_addresses = itertools.count(1 << 62, 1 << 32)  # no pointers: nobody but us may look there


def allocate(nbytes, index):
    """A new block; its address."""
    address = next(_addresses)
    blocks[address] = np.empty(nbytes, np.uint8), index
    allocated[index] += nbytes
    return address


def free(address, nbytes):
    """The last tensor that used a block is gone."""
    _, index = blocks.pop(address)
    allocated[index] -= nbytes


def array(tensor):
    """A tensor of this device as an array over its block, a CPU tensor as one over its own memory; numbers as they
    are."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.device.type == "cpu":
        return tensor.detach().numpy()
    if tensor.dtype not in DTYPES:
        raise TypeError(f"the device has no arrays of {tensor.dtype}")
    dtype = np.dtype(DTYPES[tensor.dtype])
    if tensor.numel() == 0:
        return np.empty(tuple(tensor.shape), dtype)
    block, _ = blocks[tensor.untyped_storage().data_ptr()]
    strides = [step * dtype.itemsize for step in tensor.stride()]
    return np.ndarray(tuple(tensor.shape), dtype, block, tensor.storage_offset() * dtype.itemsize, strides)


def tensor(values, dtype, device):
    """A new tensor of the device with these values."""
    made = torch.empty(np.shape(values), dtype=dtype, device=device)
    np.copyto(array(made), values, casting="unsafe")
    return made

"""Every operator on tensors that carry their elements as an attribute, with four kernels and the fallback."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np
import torch
from torch.utils import backend_registration

from tests.library.on_device import walk

backend_registration._setup_privateuseone_for_python_backend("npy")
NAMES = "float16 float32 float64 complex64 complex128 bool uint8 uint16 uint32 uint64 int8 int16 int32 int64"
DTYPES = {getattr(torch, name): np.dtype(name) for name in NAMES.split()}
TORCH = {dtype: name for name, dtype in DTYPES.items()}


class Carrier(torch.Tensor):
    @staticmethod
    def __new__(cls, array):
        made = torch._C._acc.create_empty_tensor(array.shape, TORCH[array.dtype])
        made.__class__ = cls
        return made

    def __init__(self, array):
        self.array = array

    __torch_function__ = torch._C._disabled_torch_function_impl


def array(x):
    return x.array if x.is_npy else x.detach().numpy()


def empty(size, *, dtype=None, **options):
    return Carrier(np.zeros(size, DTYPES[dtype or torch.get_default_dtype()]))


def as_strided(x, size, stride, storage_offset=None):
    whole = x.array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    item = whole.itemsize
    offset = (storage_offset or 0) * item
    return Carrier(np.ndarray(tuple(size), whole.dtype, whole.data, offset, [step * item for step in stride]))


kernels = torch.library.Library("aten", "IMPL")
kernels.impl("empty.memory_format", empty, "PrivateUse1")
kernels.impl("empty_strided", lambda size, stride, **options: empty(size, **options), "PrivateUse1")
kernels.impl("as_strided", as_strided, "PrivateUse1")
kernels.impl(
    "_copy_from", lambda a, b, non_blocking=False: np.copyto(array(b), array(a), casting="unsafe"), "PrivateUse1"
)
rest = torch.library.Library("_", "IMPL")
rest.fallback(backend_registration.cpu_fallback, "PrivateUse1")
walk(lambda error: "can't be viewed as another dtype" in str(error))

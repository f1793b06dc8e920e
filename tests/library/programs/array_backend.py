"""A backend written in Python whose tensors are objects that carry NumPy arrays."""

import numpy as np
import torch
from torch.utils import backend_registration

backend_registration._setup_privateuseone_for_python_backend("npy")
DTYPES = {torch.float32: np.float32, torch.int64: np.int64}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}


class ArrayTensor(torch.Tensor):
    @staticmethod
    def __new__(cls, array):
        made = torch._C._acc.create_empty_tensor(array.shape, NAMES[array.dtype])
        made.__class__ = cls
        return made

    def __init__(self, array):
        self.array = array


def array(x):
    if not isinstance(x, torch.Tensor):
        return x
    return x.array if x.is_npy else x.detach().numpy()


def kernel(name):
    def register(function):
        torch.library.impl("aten::" + name, "privateuseone", function)
        return function

    return register


@kernel("empty.memory_format")
def empty(size, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return ArrayTensor(np.empty(size, DTYPES[dtype or torch.float32]))


@kernel("empty_strided")
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    return empty(size, dtype=dtype)


@kernel("_copy_from")
def copy(source, target, non_blocking=False):
    np.copyto(array(target), array(source), casting="unsafe")


@kernel("add.Tensor")
def add(a, b, *, alpha=1):
    return ArrayTensor(np.asarray(array(a) + alpha * array(b)))


@kernel("add.out")
def add_out(a, b, *, alpha=1, out):
    np.copyto(out.array, array(a) + alpha * array(b))
    return out


@kernel("mul.Tensor")
def mul(a, b):
    return ArrayTensor(np.asarray(array(a) * array(b)))


@kernel("sum")
def sum_(a, *, dtype=None):
    return ArrayTensor(np.asarray(a.array.sum()))


@kernel("fill_.Scalar")
def fill(a, value):
    a.array.fill(value)
    return a


@kernel("detach")
def detach(a):
    return ArrayTensor(a.array)


@kernel("as_strided")
def as_strided(a, size, stride, storage_offset=None):
    item = a.array.itemsize
    return ArrayTensor(np.lib.stride_tricks.as_strided(a.array, size, [s * item for s in stride]))


@kernel("view")
def view(a, size):
    return ArrayTensor(a.array.reshape(size))


def refusal(function):
    try:
        function()
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__, str(error).partition(".")[0])


x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).to("npy")
y = torch.full((2, 2), 2.0).to("npy")
print(x.device, x.is_npy, type(x).__name__, x.shape, x.dtype, x.get_device())
print(torch._C._dispatch_keys(x))
x.requires_grad_()
loss = (x * y + 1).sum()
print(loss.array, loss.requires_grad, loss.grad_fn.name())
loss.backward()
print(x.grad.array)
((x * x) * 3).sum().backward()
print(x.grad.array)
print(x.detach().cpu().tolist(), x.to("npy") is x, x.npy() is x)
refusal(lambda: torch.relu(x))
refusal(lambda: x.detach().numpy())
print(torch.ones(3, device="npy").array, torch.ones_like(y).array)
print(x.expand(3, 2, 2).shape, x.t().array)
print(torch.accelerator.current_accelerator(), torch.accelerator.is_available(), torch.accelerator.device_count())
print(torch.device("privateuseone"), torch.device("npy", 3), torch._C._get_privateuse1_backend_name())
refusal(lambda: torch.utils.rename_privateuse1_backend("other"))

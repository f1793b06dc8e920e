"""What the device computes by itself: NumPy's functions, registered for PrivateUse1. In place and out= forms follow
from these, composites are made of them, and what is missing goes to the CPU and comes back.
"""

import numpy as np
import torch
from torch.utils.backend_registration import cpu_fallback

from . import memory

library = torch.library.Library("aten", "IMPL")  # registrations last as long as it does
everything = torch.library.Library("_", "IMPL")
everything.fallback(cpu_fallback, "PrivateUse1")


def kernel(name):
    """Registers a kernel of a built-in operator."""

    def register(function):
        library.impl(name, function, "PrivateUse1")
        return function

    return register


def _device(*values):
    return next(v.device for v in values if isinstance(v, torch.Tensor) and v.device.type == "npy")


@kernel("_copy_from")
def copy(source, target, non_blocking=False):
    """Between this device and the CPU, or within it: broadcast and converted."""
    np.copyto(memory.array(target), memory.array(source), casting="unsafe")


@kernel("fill_.Scalar")
def fill(tensor, value):
    memory.array(tensor)[...] = value
    return tensor


def _unary(name, function):
    @kernel(name)
    def compute(x):
        dtype = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.get_default_dtype()
        return memory.tensor(function(memory.array(x).astype(memory.DTYPES[dtype], copy=False)), dtype, x.device)


for _name in ("exp", "log", "sin", "cos", "tanh", "sqrt"):
    _unary(_name, getattr(np, _name))
_unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)))
_unary("rsqrt", lambda x: 1 / np.sqrt(x))


@kernel("neg")
def neg(x):
    return memory.tensor(-memory.array(x), x.dtype, x.device)


@kernel("relu")
def relu(x):
    return memory.tensor(np.maximum(memory.array(x), 0), x.dtype, x.device)


@kernel("add.Tensor")
def add(a, b, *, alpha=1):
    return memory.tensor(memory.array(a) + alpha * memory.array(b), torch.result_type(a, b), _device(a, b))


@kernel("sub.Tensor")
def sub(a, b, *, alpha=1):
    return memory.tensor(memory.array(a) - alpha * memory.array(b), torch.result_type(a, b), _device(a, b))


@kernel("mul.Tensor")
def mul(a, b):
    return memory.tensor(memory.array(a) * memory.array(b), torch.result_type(a, b), _device(a, b))


@kernel("div.Tensor")
def div(a, b):
    dtype = torch.result_type(a, b)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = torch.get_default_dtype()
    return memory.tensor(memory.array(a) / memory.array(b), dtype, _device(a, b))


def _comparison(name, function):
    @kernel(name)
    def compute(a, b):
        return memory.tensor(function(memory.array(a), memory.array(b)), torch.bool, _device(a, b))


for _name, _function in {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}.items():  # fmt: skip
    _comparison(f"{_name}.Tensor", _function)


@kernel("sum.dim_IntList")
def sum_(x, dim=None, keepdim=False, *, dtype=None):
    if dtype is None:
        dtype = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.int64
    axes = tuple(dim) if dim and x.dim() else None
    values = memory.array(x).astype(memory.DTYPES[dtype], copy=False).sum(axis=axes, keepdims=keepdim)
    return memory.tensor(values, dtype, x.device)


@kernel("mm")
def mm(a, b):
    return memory.tensor(memory.array(a) @ memory.array(b), a.dtype, a.device)


@kernel("bmm")
def bmm(a, b):
    return memory.tensor(memory.array(a) @ memory.array(b), a.dtype, a.device)

"""A device for torch that keeps its tensors in NumPy arrays, as an example of a backend written in Python.

    import numpy_device                       # from here on there are devices "npy:0" and "npy:1"
    x = torch.randn(3, device="npy", requires_grad=True)
    x.exp().sum().backward()

memory.py    the allocator: blocks of bytes, and a tensor as an array over its block
kernels.py   what the device computes by itself; the rest is copied to the CPU and back
device.py    the module torch.npy: which device is in use, how much memory it takes

Views, autograd, modules, optimizers and printing work by themselves: they are made of operators, and of blocks that
tensors share. docs/backends.md tells the story.
"""

import torch
from torch.utils import backend_registration

from . import device, memory

backend_registration.rename_privateuse1_backend("npy")
backend_registration.generate_methods_for_privateuse1_backend()
backend_registration.register_allocator(memory.allocate, memory.free)
torch._register_device_module("npy", device)

from . import kernels  # noqa: E402, F401  they are registered when they load

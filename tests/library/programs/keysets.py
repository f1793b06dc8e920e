"""Kernels that get the set of keys and call what is below them; the kernel whose place an override takes."""

import torch

library = torch.library.Library("layers", "DEF")
library.define("scale(Tensor x, Scalar by=2) -> Tensor")
library.impl("scale", lambda x, by=2: x * by, "CPU")
trace = []


def above(keys, x, by=2):
    trace.append(keys.has(torch._C.DispatchKey.AutogradCPU))
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.layers.scale.default.redispatch(keys & torch._C._after_autograd_keyset, x, by)


library.impl("scale", above, "Autograd", with_keyset=True)
x = torch.ones(2, requires_grad=True)
print(torch.ops.layers.scale(x, 3), trace)

original = torch.library.get_kernel("aten::mul.Tensor", "CPU")


def counted_mul(keys, a, b):
    trace.append("mul")
    return original.call_boxed(keys, a, b)


with torch.library._scoped_library("aten", "IMPL") as overrides:
    overrides.impl("mul.Tensor", counted_mul, "CPU", with_keyset=True)
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    z = y * y
    print(list(trace))
print(z.detach())
z.sum().backward()
print(y.grad)
keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU) | torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastXPU)
rest = keys - torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
print(keys.has(torch._C.DispatchKey.AutocastXPU), rest.has(torch._C.DispatchKey.CPU))

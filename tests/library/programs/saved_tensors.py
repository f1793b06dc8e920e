"""Hooks of saved tensors together with modes: what backward needs is packed, and a mode sees what happens to it."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def pack_half(t):
    print("pack", tuple(t.shape), t.dtype)
    return t.dtype, t.half()


def unpack_half(packed):
    dtype, t = packed
    print("unpack", tuple(t.shape), dtype)
    return t.to(dtype)


x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack_half, unpack_half):
    y = (x * x).sum()
y.backward()
print(x.grad)

x.grad = None
with torch.autograd.graph.saved_tensors_hooks(pack_half, unpack_half), Names() as mode:
    y = x.sin().sum()
print(sorted(mode.names))
with Names() as mode:
    y.backward()
print("cos.default" in mode.names, "_to_copy.default" in mode.names, x.grad)

stored = {}


def to_store(t):
    stored[len(stored)] = t.detach().clone()
    return len(stored) - 1


with torch.autograd.graph.saved_tensors_hooks(to_store, stored.__getitem__):
    z = (x.exp() * x).sum()
print(len(stored))
(grad,) = torch.autograd.grad(z, x)
print(torch.allclose(grad, x.exp() * (1 + x)))

with torch.autograd.graph.save_on_cpu(pin_memory=False):
    z = (x * 2).pow(2).sum()
print(torch.autograd.grad(z, x)[0])


def block(x):
    return (x.sin() * x).cos()


with Names() as plain:
    block(x).sum().backward()
with Names() as again:
    checkpoint(block, x, use_reentrant=False).sum().backward()
print(plain.names.count("sin.default"), again.names.count("sin.default"))
with torch.autograd.graph.disable_saved_tensors_hooks("none here"):
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack_half, unpack_half):
            pass
    except RuntimeError as error:
        print(error)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 + 0 * ctx.saved_tensors[0]


with torch.autograd.graph.saved_tensors_hooks(pack_half, unpack_half), Names() as mode:
    out = Double.apply(x)
    out.sum().backward()
print([n for n in mode.names if n.startswith(("mul", "add"))])

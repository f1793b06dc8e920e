"""A mode that counts the multiplications and additions of products, forward and backward."""

from math import prod

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


def mm(a, b):
    return 2 * prod(a.shape) * b.shape[-1]


def convolution(x_shape, w_shape, out_shape, transposed=False):
    return 2 * x_shape[0] * prod(w_shape) * prod((x_shape if transposed else out_shape)[2:])


def convolution_backward(grad, x, w, args):
    mask = args[-1]
    total = 0
    if mask[0]:
        total += convolution(grad.shape, w.shape, x.shape, True)
    if mask[1]:
        total += convolution((x.shape[1], x.shape[0]), (grad.shape[1], grad.shape[0], *grad.shape[2:]), w.shape)
    return total


COUNTS = {
    aten.mm: lambda out, a, b: mm(a, b),
    aten.addmm: lambda out, bias, a, b: mm(a, b),
    aten.bmm: lambda out, a, b: mm(a, b),
    aten.convolution: lambda out, x, w, *args: convolution(x.shape, w.shape, out.shape),
    aten.convolution_backward: lambda out, grad, x, w, *args: convolution_backward(grad, x, w, args),
}


class Flops(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.by_name = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        count = COUNTS.get(func._overloadpacket)
        if count:
            name = str(func._overloadpacket)
            self.by_name[name] = self.by_name.get(name, 0) + count(out, *args)
        return out


def count(title, function):
    with Flops() as flops:
        function()
    print(title, dict(sorted(flops.by_name.items())))


mlp = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
x = torch.randn(32, 8)
count("mlp forward", lambda: mlp(x))
count("mlp both", lambda: mlp(x).sum().backward())
count("no bias", lambda: torch.nn.Linear(8, 4, bias=False)(x))
count("three dims", lambda: torch.nn.Linear(8, 4)(torch.randn(2, 5, 8)).sum().backward())
cnn = torch.nn.Sequential(torch.nn.Conv2d(3, 6, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(6, 4, 3))
image = torch.randn(2, 3, 8, 8)
count("cnn forward", lambda: cnn(image))
count("cnn both", lambda: cnn(image).sum().backward())
q = torch.randn(2, 4, 5, 8, requires_grad=True)
count("attention", lambda: ((q @ q.transpose(-1, -2)).softmax(-1) @ q).sum().backward())
count("einsum", lambda: torch.einsum("bhqd,bhkd->bhqk", q, q))
lstm = torch.nn.LSTMCell(4, 4)
count("outer product", lambda: torch.outer(torch.ones(3), torch.ones(4)))

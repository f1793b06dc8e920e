"""A mode below autograd prints each operator of a training step, backward and optimizer included."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


def short(value):
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    return value


class Log(TorchDispatchMode):
    def __init__(self, title, hide=()):
        super().__init__()
        self.title, self.hide, self.calls = title, hide, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.calls += 1
        if func.overloadpacket not in self.hide:
            shown = ", ".join(str(short(a)) for a in tree_map(short, list(args)))
            print(f"{self.title}: {func}({shown}) -> {tree_map(short, out)}")
        return out


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
hide = (torch.ops.aten.detach,)
with Log("forward", hide):
    loss = torch.nn.functional.cross_entropy(model(x), target)
with Log("backward", hide):
    loss.backward()
with Log("step", hide), torch.no_grad():
    for p in model.parameters():
        p.add_(p.grad, alpha=-0.1)
print(round(loss.item(), 4), round(model[0].bias.sum().item(), 4))

with Log("outer") as outer, Log("inner") as inner:
    y = torch.zeros(2, 2)
    y[0] = 1
    z = y.reshape(4).view(2, 2).transpose(0, 1) @ y
print(outer.calls, inner.calls, z)
with Log("numbers"):
    a = torch.tensor([1.0, 2.0])
    b = (a * 2 + 1 - a / 3) ** 2
    c = b.mean() > 1
    d = torch.where(c, b, a).softmax(0)
    e = torch.nn.functional.layer_norm(d, (2,))
    f = e.to(torch.float64).sum().item()
    g = torch.arange(3)[1:]
print(f"{f:.4f}", g)


class Skip(TorchDispatchMode):
    """Answers relu itself; whatever it does not know goes on."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.relu.default:
            return torch.full_like(args[0], 7)
        return func(*args, **(kwargs or {}))


with Skip():
    print(torch.relu(torch.ones(2)), torch.nn.functional.relu(torch.ones(2)) + 1)
try:
    with Log("error"):
        torch.ones(2) @ torch.ones(3, 3)
except RuntimeError as error:
    print(type(error).__name__)
print(torch.utils._python_dispatch._get_current_dispatch_mode())

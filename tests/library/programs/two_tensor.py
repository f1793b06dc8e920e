"""Two tensors in one: each operator runs on both. The usual shape of wrapper classes."""

import torch
from torch.utils._python_dispatch import (
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
    transform_subclass,
)
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten


class Two(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b, requires_grad=False):
        assert a.shape == b.shape and a.dtype == b.dtype and a.device == b.device
        return torch.Tensor._make_wrapper_subclass(
            cls,
            a.size(),
            strides=a.stride(),
            storage_offset=a.storage_offset(),
            dtype=a.dtype,
            device=a.device,
            layout=a.layout,
            requires_grad=requires_grad or a.requires_grad,
        )

    def __init__(self, a, b, requires_grad=False):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Two({self.a}, {self.b})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Two(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        outs = [
            func(*tree_map(pick, args), **tree_map(pick, kwargs))
            for pick in (lambda t: t.a if isinstance(t, Two) else t, lambda t: t.b if isinstance(t, Two) else t)
        ]
        flat, spec = tree_flatten(outs[0])
        other, _ = tree_flatten(outs[1])
        both = [Two(a, b) if isinstance(a, torch.Tensor) else a for a, b in zip(flat, other, strict=True)]
        return return_and_correct_aliasing(func, args, kwargs, tree_unflatten(both, spec))


x = Two(torch.arange(4.0).view(2, 2), torch.ones(2, 2))
print(x + 1)
print(x.sum(), x.shape, x.stride(), x.dtype, x.is_contiguous())
print((x @ x).exp().max(1).values)
a, b = x.unbind(0)
print(a, type(b).__name__)
x.mul_(2)
print(x, x._version)
view = x[0]
view.zero_()
print(x.a, x.b, x._version, view._version)
y = torch.relu(
    x - 1,
)
print(y)
print(is_traceable_wrapper_subclass(x), is_traceable_wrapper_subclass(torch.ones(1)))
print(transform_subclass(x, lambda name, t: t + (10 if name == "a" else 20)))

w = Two(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), requires_grad=True)
loss = (w * w).sum()
print(loss, loss.grad_fn.name(), w.is_leaf)
loss.backward()
print(w.grad)
(g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
print(g)
(gg,) = torch.autograd.grad(g.sum(), w)
print(gg)

layer = torch.nn.Linear(2, 2)
with torch.no_grad():
    layer.weight.copy_(torch.eye(2))
    layer.bias.zero_()
out = layer(Two(torch.ones(1, 2), torch.zeros(1, 2)))
print(out)
out.sum().backward()
print(type(layer.weight.grad).__name__, layer.weight.grad)
print(torch.stack([x, x]).shape, torch.cat([x, x], 1).b)
print(w.detach(), w.detach().requires_grad, type(w.data).__name__)
p = torch.nn.Parameter(Two(torch.ones(2), torch.zeros(2)))
print(type(p).__name__, isinstance(p, torch.nn.Parameter), p.requires_grad)
optimizer = torch.optim.SGD([p], lr=0.5)
(p * p).sum().backward()
optimizer.step()
print(p)
optimizer.zero_grad()
print(p.grad)

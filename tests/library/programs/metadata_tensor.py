"""A subclass of Tensor that carries what the tensor is about, by __torch_function__ and by methods."""

import copy

import torch


class Labelled(torch.Tensor):
    """`label` follows the data: results have the labels of all operands."""

    @staticmethod
    def __new__(cls, data, label=(), **kwargs):
        made = torch.as_tensor(data, **kwargs).as_subclass(cls)
        made.label = tuple(label)
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs)
        if isinstance(out, cls):
            seen = [label for a in args for label in getattr(a, "label", ())]
            out.label = tuple(dict.fromkeys(seen))
        return out

    def __repr__(self, **kwargs):
        return f"{super().__repr__()[:-1]}, label={self.label})"


a = Labelled([1.0, 2.0], label=["speed"])
b = Labelled([3.0, 4.0], label=["mass"])
c = a * b + 1
print(c)
print(type(c).__name__, c.label, c.sum().label, c[0].label)
print(type(torch.stack([a, b])).__name__, torch.cat([a, torch.ones(1)]).shape)
plain = torch.ones(2)
print(type(plain + a).__name__, (plain + a).label)
print(type(a.tolist()).__name__, a.tolist(), a.shape, a.dtype)

w = Labelled([1.0, 2.0], label=["weight"]).requires_grad_()
(w * a).sum().backward()
print(type(w.grad).__name__, w.grad)
print(type(copy.copy(a)).__name__, type(a.detach()).__name__, type(a.clone()).__name__)
print(type(torch.nn.Parameter(a)).__name__, isinstance(torch.nn.Parameter(a), torch.nn.Parameter))
with torch._C.DisableTorchFunctionSubclass():
    print(type(a + b).__name__)
print(type(a.as_subclass(torch.Tensor)).__name__)


class Meters(torch.Tensor):
    pass


m = torch.ones(2).as_subclass(Meters)
print(type(m + 1).__name__, type(m.max()).__name__)
try:
    torch.add(m, a)
except TypeError as error:
    print(str(error).startswith("Multiple dispatch failed"))
print(type(m.mean()).__name__, type(torch.add(m, 1, out=torch.empty(2))).__name__)

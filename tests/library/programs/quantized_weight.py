"""A weight kept as 8-bit integers with a scale for each row: a tensor class without memory of its own, used by an
unchanged module.
"""

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing

aten = torch.ops.aten
HANDLED = {}


def implements(*functions):
    def decorate(function):
        for f in functions:
            HANDLED[f] = function
        return function

    return decorate


class Int8Weight(torch.Tensor):
    @staticmethod
    def __new__(cls, codes, scale):
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=scale.dtype, device=codes.device)

    def __init__(self, codes, scale):
        self.codes, self.scale = codes, scale

    @classmethod
    def from_float(cls, w):
        scale = w.abs().amax(1, keepdim=True) / 127
        return cls((w / scale).round().to(torch.int8), scale)

    def dequantize(self):
        return self.codes.to(self.scale.dtype) * self.scale

    def __repr__(self):
        return f"Int8Weight({tuple(self.shape)}, {self.codes.dtype})"

    def __tensor_flatten__(self):
        return ["codes", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, size, stride):
        return cls(inner["codes"], inner["scale"])

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED:
            raise NotImplementedError(f"{func} of an Int8Weight")
        return HANDLED[func](func, args, kwargs or {})


@implements(aten.t.default)
def _(func, args, kwargs):
    w = args[0]
    return return_and_correct_aliasing(func, args, kwargs, Int8Weight(w.codes.t(), w.scale.t()))


@implements(aten.detach.default, aten.clone.default, aten.alias.default)
def _(func, args, kwargs):
    w = args[0]
    made = Int8Weight(func(w.codes, *args[1:], **kwargs), func(w.scale, *args[1:], **kwargs))
    return return_and_correct_aliasing(func, args, kwargs, made)


@implements(aten.mm.default, aten.addmm.default)
def _(func, args, kwargs):
    plain = [a.dequantize() if isinstance(a, Int8Weight) else a for a in args]
    return func(*plain, **kwargs)


@implements(aten._to_copy.default)
def _(func, args, kwargs):
    w = args[0]
    return Int8Weight(w.codes.clone(), w.scale.to(kwargs.get("dtype", w.scale.dtype)))


torch.manual_seed(0)
layer = torch.nn.Linear(6, 4)
x = torch.randn(3, 6)
want = layer(x)
layer.weight = torch.nn.Parameter(Int8Weight.from_float(layer.weight.detach()), requires_grad=False)
print(layer.weight, type(layer.weight).__name__, layer.weight.dtype, layer.weight.shape)
print(isinstance(layer.weight, torch.nn.Parameter), layer.weight.requires_grad)
got = layer(x)
print(type(got).__name__, bool(((got - want).abs() < 0.05).all()))
got.sum().backward()
print(layer.bias.grad)
x.requires_grad_()
layer(x).sum().backward()
print(x.grad.shape, bool(x.grad.abs().sum() > 0))
print(layer.weight.detach(), layer.weight.clone().codes.dtype, layer.weight.t().shape)
try:
    layer.weight + 1
except NotImplementedError as error:
    print(error)
names, context = layer.weight.__tensor_flatten__()
again = Int8Weight.__tensor_unflatten__({n: getattr(layer.weight, n) for n in names}, context, None, None)
print(torch.equal(again.dequantize(), layer.weight.dequantize()))
print(sorted(layer.state_dict()), type(layer.state_dict()["weight"]).__name__)
print(sum(getattr(layer.weight, n).nbytes for n in names), layer.weight.numel() * 4)

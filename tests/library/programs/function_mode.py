"""Modes of functions: they log what is called, and put numbers of their own in the place of random ones."""

import torch
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode, resolve_name


class Log(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.depth = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print("function", resolve_name(func), len(args))
        return func(*args, **(kwargs or {}))


class NoChance(TorchFunctionMode):
    """Random numbers count up, so that a run can be compared with one elsewhere."""

    FACTORIES = {torch.rand, torch.randn, torch.rand_like, torch.randn_like}

    def __init__(self):
        super().__init__()
        self.next = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.FACTORIES:
            like = func(*args, **kwargs)
            start, self.next = self.next, self.next + like.numel()
            return torch.arange(start, self.next, dtype=like.dtype).view(like.shape).requires_grad_(like.requires_grad)
        if func is torch.Tensor.uniform_ or func is torch.Tensor.normal_:
            return args[0].fill_(0.5)
        return func(*args, **kwargs)


class OnDefault(TorchFunctionMode):
    """New tensors are double, unless the call says otherwise."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in (torch.zeros, torch.ones, torch.full):
            kwargs.setdefault("dtype", torch.float64)
        return func(*args, **kwargs)


with Log():
    x = torch.ones(2, 3)
    y = torch.nn.functional.relu(x - 2).sum()
    x[0, 1] = 5
    x[1]
    torch.matmul(x, x.t())

with NoChance():
    print(torch.rand(2, 2), torch.randn(3), torch.randn_like(torch.zeros(2)))
    print(torch.empty(2).uniform_(), torch.empty(2).normal_())
with OnDefault(), BaseTorchFunctionMode():
    print(torch.ones(2).dtype, torch.ones(2, dtype=torch.int32).dtype, torch.rand(1).dtype)

with NoChance() as outer, Log():
    drawn = torch.rand(2)
print(drawn, outer.next)


class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("subclass", func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


s = torch.ones(2).as_subclass(Sub)
with Log():
    s + 1  # the mode comes first, then the class
    with torch._C.DisableTorchFunction():
        s + 1
torch.set_default_device("cpu")
print(torch.ones(1).device)
torch.set_default_device(None)
with torch.device("meta"):
    print(torch.ones(2, 2).device, torch.zeros(3, device="cpu").device)
print(torch.ones(1).device)


class Fails(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise ValueError(f"no {func.__name__} here")


try:
    with Fails():
        torch.ones(2)
except ValueError as error:
    print(error)
print(torch.ones(2))

"""A mode that stops at the first operator that makes NaN or infinity of finite numbers."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


def is_finite(values):
    return all(bool(torch.isfinite(t).all()) for t in tree_iter(values) if torch.is_tensor(t) and t.is_floating_point())


class NaNFound(RuntimeError):
    pass


class DetectNaN(TorchDispatchMode):
    def __init__(self, ignore=("empty", "empty_like", "new_empty", "empty_strided")):
        super().__init__()
        self.ignore, self.checked = set(ignore), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func.overloadpacket.__name__ in self.ignore:
            return out
        self.checked += 1
        if is_finite(args) and not is_finite(out):
            raise NaNFound(f"{func} made what is not finite")
        return out


def attempt(function):
    try:
        with DetectNaN() as mode:
            print("fine", function(), mode.checked > 0)
    except NaNFound as error:
        print("found:", error)


x = torch.tensor([1.0, 0.0, -1.0])
attempt(lambda: x.exp())
attempt(lambda: x.log())
attempt(lambda: (x - 1).sqrt().sum())
attempt(lambda: 1 / x)
attempt(lambda: torch.softmax(x * 3e38 * 10, 0))
attempt(lambda: x.new_empty(3).fill_(2.0))


def through_backward():
    w = torch.tensor([0.0, 4.0], requires_grad=True)
    loss = w.sqrt().sum()
    loss.backward()
    return w.grad


attempt(through_backward)
print(through_backward())


class Safe(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return w.sqrt()

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return torch.where(w > 0, grad / (2 * w.clamp(min=1e-12).sqrt()), torch.zeros_like(w))


def with_a_safe_function():
    w = torch.tensor([0.0, 4.0], requires_grad=True)
    Safe.apply(w).sum().backward()
    return w.grad


attempt(with_a_safe_function)
print(torch.utils._python_dispatch.is_in_torch_dispatch_mode())

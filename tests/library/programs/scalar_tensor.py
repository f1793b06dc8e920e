"""Objects that are no tensors and that torch's functions take all the same, by __torch_function__."""

import functools

import numpy as np
import torch

HANDLED = {}


def implements(torch_function):
    def decorate(function):
        @functools.wraps(torch_function)
        def wrapped(*args, **kwargs):
            return function(*args, **kwargs)

        HANDLED[torch_function] = wrapped
        return wrapped

    return decorate


class ScaledIdentity:
    """A number times the identity matrix of N rows."""

    def __init__(self, n, value):
        self._n, self._value = n, value

    def __repr__(self):
        return f"ScaledIdentity(n={self._n}, value={self._value})"

    def dense(self):
        return self._value * torch.eye(self._n)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, ScaledIdentity)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


class SmallIdentity(ScaledIdentity):
    pass


@implements(torch.mean)
def mean(input):
    return float(input._value) / input._n


def dense(value):
    return value.dense() if isinstance(value, ScaledIdentity) else value


@implements(torch.add)
def add(input, other):
    if isinstance(input, ScaledIdentity) and isinstance(other, ScaledIdentity):
        return type(input)(input._n, input._value + other._value)
    return torch.add(dense(input), dense(other))


@implements(torch.mm)
def mm(a, b):
    return torch.mm(dense(a), dense(b))


class Diagonal:
    """Only `diagonal` is stored; what torch's functions do goes through dense tensors."""

    def __init__(self, diagonal):
        self.diagonal = diagonal

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("asked for", func.__name__, [t.__name__ for t in types])
        args = [torch.diag(a.diagonal) if isinstance(a, cls) else a for a in args]
        return func(*args, **(kwargs or {}))


d = ScaledIdentity(5, 2)
print(d, torch.mean(d), torch.add(d, ScaledIdentity(5, 1)))
print(torch.add(torch.ones(2, 2), ScaledIdentity(2, 3)))
print(torch.add(SmallIdentity(2, 1), SmallIdentity(2, 4)))
print(torch.mm(ScaledIdentity(2, 3), torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
try:
    torch.mul(d, 3)
except TypeError as error:
    print(type(error).__name__, "no implementation found" in str(error))
try:
    torch.add(d, 5)  # numbers are not among the types that take part
except AttributeError as error:
    print(error)
except RuntimeError as error:
    print(type(error).__name__)
m = Diagonal(torch.tensor([1.0, 2.0]))
print(torch.matmul(m, torch.ones(2, 2)))
print(torch.trace(m))
print(torch.overrides.is_tensor_like(m), torch.overrides.has_torch_function((m,)))
print(np.allclose(ScaledIdentity(2, 3).dense().numpy(), 3 * np.eye(2)))

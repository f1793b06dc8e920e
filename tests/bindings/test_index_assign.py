"""a[key] = value: set against NumPy's on random keys; gradients, errors."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.bindings.test_indexing import SHAPES, random_key, to_module


def random_value(r: random.Random, shape: tuple[int, ...]) -> Any:
    """A number, or an array that broadcasts to the shape."""
    if r.random() < 0.3:
        return r.choice([1, 2.5, True])
    sizes = [s if r.random() < 0.7 else 1 for s in shape][r.choice([0, 0, 1]) :]
    return np.random.RandomState(r.randrange(1000)).rand(*sizes).astype(np.float32) if sizes else 7.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("arrays", [False, True])
def test_as_numpy(module: Any, shape: tuple[int, ...], arrays: bool) -> None:
    r = random.Random(2)
    for _ in range(150):
        array = np.zeros(shape, dtype=np.float32)
        t = module.tensor(array)
        key = random_key(r, shape, arrays)
        value = random_value(r, array[key].shape)
        uses = array[key].size
        if uses != np.unique(np.arange(array.size).reshape(shape)[key]).size:
            value = 3.0  # which of several values for one place wins is not said
        array[key] = value
        t[to_module(module, key)] = module.tensor(value) if isinstance(value, np.ndarray) else value
        assert t.tolist() == array.tolist(), (key, value)


@pytest.mark.parametrize(
    ("statement", "total"),
    [
        ("a[0] = 1", 222),
        ("a[0] = t([1.0])", 222),
        ("a[0] = torch.zeros(1, 1, 3, 4) + 1", 222),
        ("a[0] = np.float64(3)", 246),
        ("a[0, 0, 0] = t([7.0])", 283),
        ("a[...] = 5", 120),
        ("a[()] = 3", 72),
        ("a[True] = 5", 120),
        ("a[False] = 5", 276),
        ("a[t(True)] = torch.ones(3, 4)", 24),
        ("a[t([True, False])] = torch.ones(3, 4)", 222),
        ("a[a > 5] = 0", 15),
        ("a[a > 5] = torch.arange(18.0)", 168),
        ("a[a > 3] *= 2", 546),
        ("a[[0]] = torch.ones(1, 1, 3, 4)", 222),
        ("a[0, [0, 1]] = 7", 304),
        ("a[[0, 1], :, [0, 1]] = torch.ones(2, 3)", 219),
        ("a[[0, 1], [0, 1]] += 1", 284),
        ("a[0] += 1", 288),
        ("a[0] = a[1]", 420),
        ("a[0:0] = 3", 276),
        ("a[..., 0, :] = torch.arange(4)", 228),
        ("a[:, [0, 1]][0] = 5", 276),
        ("a[0], a[1] = a[1].clone(), a[0].clone()", 276),
    ],
)
def test_forms(module: Any, statement: str, total: float) -> None:
    a = module.arange(24.0).reshape(2, 3, 4)
    exec(statement, {"a": a, "t": module.tensor, "torch": module, "np": np})
    assert a.sum().item() == total


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("a[0] = 'a'", TypeError, "can't assign a str to a torch.FloatTensor"),
        ("a[0] = None", TypeError, "can't assign a NoneType to a torch.FloatTensor"),
        ("a[0] = [1]", TypeError, "can't assign a list to a torch.FloatTensor"),
        ("a[0] = 1j", RuntimeError, "without overflow"),
        ("a[0] = 1e40", RuntimeError, "without overflow"),
        ("a[a > 3] = 1e40", RuntimeError, "without overflow"),
        ("a.to(torch.uint8)[0] = 300", RuntimeError, "without overflow"),
        ("a[2] = 1", IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        ("a[0, 0, 0, 0] = 1", IndexError, "too many indices for tensor of dimension 3"),
        ("a[::-1] = 1", ValueError, "step must be greater than zero"),
        ("a[1.5] = 1", IndexError, "only integers, slices"),
        ("del a[0]", TypeError, "does not support deleting items"),
        ("a[0] = torch.ones(5)", RuntimeError, "(5)"),
        (
            "a[a > 5] = torch.arange(17.0)",
            RuntimeError,
            "shape mismatch: value tensor of shape [17] cannot be broadcast",
        ),
        ("a[t([0, 5])] = 1", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ("a[[0]] = torch.ones(3, 4, dtype=torch.int64)", RuntimeError, "source and destination dtypes match"),
        ("leaf[0] = 1", RuntimeError, "leaf Variable that requires grad"),
    ],
)
def test_errors(module: Any, statement: str, error: type[Exception], text: str) -> None:
    a = module.arange(24.0).reshape(2, 3, 4)
    leaf = module.ones(2, requires_grad=True)
    with pytest.raises(error) as caught:
        exec(statement, {"a": a, "t": module.tensor, "torch": module, "leaf": leaf})
    assert text in str(caught.value)
    if module.__name__ != "torch":  # which writes up to the bad index
        assert a.sum().item() == 276


def test_gradients(module: Any) -> None:
    x = module.ones(3, requires_grad=True)
    v = module.tensor(2.0, requires_grad=True)
    y = x * 3
    y[1] = v * v
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 0.0, 3.0]
    assert v.grad.item() == 4.0

    x.grad = None
    w = module.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1
    y[[0, 2]] = w
    (y * module.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 0.0]
    assert w.grad.tolist() == [1.0, 3.0]


def test_version_counts_every_write(module: Any) -> None:
    a = module.zeros(2, 2)
    before = a._version
    a[0, 1] = 1.0
    a[0] = 1.0
    a[[0]] = 1.0
    assert a._version == before + 3

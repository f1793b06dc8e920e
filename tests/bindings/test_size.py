"""torch.Size."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import pytest


def test_is_a_tuple(module: Any) -> None:
    size = module.Size([2, 3])
    assert size == (2, 3)
    assert hash(size) == hash((2, 3))
    assert repr(size) == "torch.Size([2, 3])"
    assert (size[0], size[-1], len(size), 3 in size) == (2, 3, 2, True)
    assert list(size) == [2, 3]


def test_of_a_tensor(module: Any) -> None:
    t = module.tensor([[1, 2, 3], [4, 5, 6]])
    assert isinstance(t.shape, module.Size)
    assert t.shape == (2, 3)
    assert module.tensor(1.0).shape == ()


@pytest.mark.parametrize("ndim", range(12))
def test_all_lengths_come_and_go(module: Any, ndim: int) -> None:
    for _ in range(200):
        sizes = [module.Size([300 + i] * ndim) for i in range(5)]
        assert [s[:1] for s in sizes] == [(300 + i,) * min(ndim, 1) for i in range(5)]
    gc.collect()


def test_arithmetic_keeps_the_type(module: Any) -> None:
    size = module.Size([2, 3])
    for other, values in [
        (size[:1], (2,)),
        (size + (4,), (2, 3, 4)),
        ((4,) + size, (4, 2, 3)),
        (size * 2, (2, 3, 2, 3)),
        (2 * size, (2, 3, 2, 3)),
        (size[::-1], (3, 2)),
    ]:
        assert other == values
        assert type(other) is module.Size
    with pytest.raises(TypeError):
        size + ("a",)


def test_numel(module: Any) -> None:
    assert module.Size([2, 3]).numel() == 6
    assert module.Size([]).numel() == 1


def test_constructor(module: Any) -> None:
    assert module.Size() == ()
    assert module.Size(range(3)) == (0, 1, 2)
    assert module.Size([module.tensor(3)]) == (3,)
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is 'float'\)"):
        module.Size([2, 2.5])


def test_pickle(module: Any) -> None:
    copy = pickle.loads(pickle.dumps(module.Size([2, 3])))
    assert copy == (2, 3)
    assert type(copy) is module.Size

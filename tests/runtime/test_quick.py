"""The quick path of pointwise operators: small row-major operands, repeated where they broadcast, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vivace as torch

sizes = st.lists(st.integers(1, 5), min_size=0, max_size=4)


def operand(draw: st.DrawFn, shape: list[int]) -> np.ndarray:
    """Numbers of a shape that broadcasts to `shape`: leading dims left away, others set to 1."""
    cut = draw(st.integers(0, len(shape)))
    kept = [draw(st.sampled_from([1, s])) for s in shape[cut:]]
    return np.linspace(1, 3, int(np.prod(kept)), dtype=np.float32).reshape(kept)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(sizes)
    return operand(draw, shape), operand(draw, shape)


@given(pairs())
def test_broadcast(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    got = torch.from_numpy(a) - torch.from_numpy(b)
    assert got.is_contiguous() and tuple(got.shape) == np.broadcast_shapes(a.shape, b.shape)
    np.testing.assert_array_equal(got.numpy(), a - b)


@given(pairs())
def test_broadcast_condition(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    got = torch.where(torch.from_numpy(a) > 2, torch.from_numpy(b), torch.tensor(0.0))
    np.testing.assert_array_equal(got.numpy(), np.where(a > 2, b, np.float32(0)))


@given(sizes, st.data())
def test_in_place(shape: list[int], data: st.DataObject) -> None:
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(np.float32)
    b = operand(data.draw, shape)
    t = torch.from_numpy(a.copy())
    before = t._version
    assert t.mul_(torch.from_numpy(b)) is t and t._version == before + 1
    np.testing.assert_array_equal(t.numpy(), a * b)


def test_in_place_refuses_part_of_itself() -> None:
    t = torch.arange(1.0, 5)
    assert t.add_(t).tolist() == [2, 4, 6, 8]
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        t.add_(t[0])
    assert t.tolist() == [2, 4, 6, 8]


def test_in_place_does_not_grow() -> None:
    with pytest.raises(RuntimeError, match="broadcast shape"):
        torch.ones(3).add_(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="broadcast shape"):
        torch.ones(1).add_(torch.ones(3))


def test_integers_divide_by_zero_in_place() -> None:
    t = torch.tensor([4, 6])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        t.floor_divide_(torch.tensor([2, 0]))

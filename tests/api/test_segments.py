"""torch.segment_reduce against NumPy, segment by segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

LENGTHS = [2, 0, 3, 1]
DATA = np.arange(12.0).reshape(6, 2) / 4 + 1
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "max": lambda x, axis: x.max(axis, initial=-np.inf),
    "min": lambda x, axis: x.min(axis, initial=np.inf),
}


def segments(data: Any) -> list[Any]:
    return np.split(data, np.cumsum(LENGTHS)[:-1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values(module: Any, name: str) -> None:
    data, lengths = module.tensor(DATA), module.tensor(LENGTHS)
    want = np.stack([REDUCTIONS[name](s, axis=0) for s in segments(DATA)])
    np.testing.assert_allclose(module.segment_reduce(data, name, lengths=lengths), want)
    offsets = module.tensor([0, 2, 2, 5, 6])
    np.testing.assert_allclose(module.segment_reduce(data, name, offsets=offsets), want)
    with_initial = module.segment_reduce(data, name, lengths=lengths, initial=2)
    assert with_initial[1].tolist() == [2, 2]


def test_initial_counts(module: Any) -> None:
    data, lengths = module.tensor([1.0, 3.0]), module.tensor([2])
    for name, want in {"sum": 5, "mean": 2.5, "prod": 3, "max": 3, "min": 1}.items():
        assert module.segment_reduce(data, name, lengths=lengths, initial=1).tolist() == [want]


def test_lengths_of_rows(module: Any) -> None:
    data, lengths = module.arange(8.0).reshape(2, 4), module.tensor([[1, 3], [2, 2]])
    assert module.segment_reduce(data, "sum", lengths=lengths, axis=1).tolist() == [[0, 6], [9, 13]]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_derivative(module: Any, name: str) -> None:
    data = module.tensor(DATA, requires_grad=True)
    lengths = module.tensor([2, 3, 1])
    assert module.autograd.gradcheck(lambda x: module.segment_reduce(x, name, lengths=lengths), (data,))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Either lengths or offsets must be defined"),
        ({"lengths": [2, 2]}, "Expected all rows of lengths along axis to sum"),
        ({"lengths": [-1, 7]}, "lengths contains negative value"),
        ({"indices": [0, 1]}, "indices based reduction is not supported"),
    ],
)
def test_errors(module: Any, options: dict[str, list[int]], text: str) -> None:
    given = {name: module.tensor(values) for name, values in options.items()}
    with pytest.raises(RuntimeError, match=text):
        module.segment_reduce(module.tensor(DATA), "sum", **given)

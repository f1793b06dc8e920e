"""Python numbers as arguments: integers that only uint64 holds, and numbers that an operator's dtype does not hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vivace as torch

BIG = 2**63 + 5
MAXIMUM = 2**64 - 1


def unsigned(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.uint64)


def test_integers_of_uint64():
    assert torch.full((2,), BIG, dtype=torch.uint64).tolist() == [BIG, BIG]
    assert unsigned(1, 2).fill_(MAXIMUM).tolist() == [MAXIMUM] * 2
    assert (unsigned(1, 3) * BIG).tolist() == [BIG, 3 * BIG % 2**64]
    assert torch.scalar_tensor(BIG, dtype=torch.uint64).item() == BIG
    assert (unsigned(BIG, 1) == BIG).tolist() == [True, False]
    assert unsigned(1, 2).fill_(unsigned(BIG)[0]).tolist() == [BIG] * 2
    assert torch.ones(1).fill_(np.uint64(BIG)).item() == float(BIG)


@pytest.mark.parametrize("value", [2**63, BIG, MAXIMUM])
def test_they_are_numbers_to_floats(value):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert (x + value).tolist() == [1.0 + value, 2.0 + value]
    assert (x * value).tolist() == [float(value), 2.0 * value]
    assert (x < value).tolist() == [True, True]
    assert torch.clamp(x, max=value).tolist() == x.tolist()
    assert torch.where(x > 1, value, x).tolist() == [1.0, float(value)]
    assert torch.full((1,), value, dtype=torch.float32).item() == float(np.float32(value))
    assert torch.add(x, x, alpha=value).tolist() == [1.0 + value, 2.0 + 2.0 * value]
    assert (torch.ones(1, dtype=torch.complex128) + value).tolist() == [complex(1.0 + value)]
    assert torch.add(*torch.ones(2, 1, dtype=torch.complex128), alpha=value).tolist() == [complex(1.0 + value)]
    assert torch.pow(torch.tensor([2.0]), value).item() == float("inf")
    y = torch.ones(1, dtype=torch.float64, requires_grad=True)
    torch.sub(x, y, alpha=value).sum().backward()
    assert y.grad.tolist() == [-2.0 * value]


def test_they_wrap_as_operands_of_integers_and_are_refused_elsewhere():
    x = torch.ones(2, dtype=torch.int64)
    assert (x + BIG).tolist() == [BIG + 1 - 2**64] * 2
    refused = [
        lambda: torch.full((2,), BIG),
        lambda: x.clone().fill_(BIG),
        lambda: torch.clamp(x, max=BIG),
        lambda: torch.add(x, x, alpha=BIG),
        lambda: x.masked_fill(x > 0, BIG),
        lambda: torch.arange(BIG, BIG + 2),
    ]
    for call in refused:
        with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
            call()
    for value in (2**64, 10**30):
        with pytest.raises(OverflowError, match="int too big to convert"):
            torch.full((2,), value)


@pytest.mark.parametrize(("dtype", "name"), [("uint8", "uint8_t"), ("int8", "int8_t"), ("int16", "int16_t")])
def test_factors_that_integers_do_not_hold(dtype, name):
    x = torch.ones(2, 2, dtype=getattr(torch, dtype))
    large = 40_000
    refused = [
        lambda: torch.add(x, x, alpha=large),
        lambda: torch.add(x, 1, alpha=large),
        lambda: torch.sub(x, x, alpha=large),
        lambda: torch.sub(x, x[0], alpha=large),
        lambda: torch.rsub(x, x, alpha=large),
        lambda: x.clone().add_(x, alpha=large),
        lambda: torch.add(x, x, alpha=large, out=x.clone()),
        lambda: torch.addcmul(x, x, x, value=large),
        lambda: torch.addmm(x, x, x, beta=large),
        lambda: torch.addmm(x, x, x, alpha=large),
    ]
    for call in refused:
        with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
            call()
    assert torch.add(x, x, alpha=-1).tolist() == [[0, 0], [0, 0]]
    assert torch.add(x, x, alpha=100).tolist() == [[101, 101], [101, 101]]


@pytest.mark.parametrize(
    "call", [lambda: torch.ones(3).sum(2**63), lambda: torch.ones(3).roll(2**64), lambda: torch.eye(10**30)]
)
def test_an_int_beyond_int64(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        call()


@pytest.mark.parametrize(
    "call", [lambda: torch.zeros(1, 2**63), lambda: torch.ones(3).view([2**64]), lambda: torch.ones(3).flip(2**63)]
)
def test_a_list_with_an_int_beyond_int64(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="at pos . is too large"):
        call()


def test_a_list_with_what_is_no_int() -> None:
    with pytest.raises(TypeError, match=r"must be tuple of ints, but found element of type float at pos 2"):
        torch.zeros([1, 2.5])

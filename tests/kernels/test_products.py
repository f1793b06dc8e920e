"""Products of tensors with any number of dims, and integrals: corners that samples don't reach, second derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import vivace
from vivace import linalg
from vivace.autograd import gradcheck, gradgradcheck


def random(*sizes: int, dtype: object = vivace.float64) -> vivace.Tensor:
    vivace.manual_seed(sum(sizes))
    return vivace.randn(*sizes, dtype=dtype, requires_grad=True)


def test_addr_of_truths_is_and_or() -> None:
    ones = vivace.ones(2, dtype=vivace.bool)
    assert vivace.addr(vivace.zeros(2, 2, dtype=vivace.bool), ones, ones, beta=2, alpha=True).all()
    assert not vivace.addr(vivace.ones(2, 2, dtype=vivace.bool), ones, ones, beta=False, alpha=False).any()


def test_addr_ignores_what_beta_0_multiplies() -> None:
    assert vivace.addr(vivace.full((2, 3), float("nan")), vivace.ones(2), vivace.ones(3), beta=0).eq(1).all()
    with pytest.raises(RuntimeError, match="can't be cast"):
        vivace.ones(2, 3, dtype=vivace.int64).addr_(vivace.ones(2), vivace.ones(3))
    with pytest.raises(RuntimeError, match="beta must not be a floating point number"):
        vivace.addr(vivace.ones(1, dtype=vivace.int64), *[vivace.ones(1, dtype=vivace.int64)] * 2, beta=0.5)


@pytest.mark.parametrize("sizes", [(2,), (4,), (0,), (3, 1), (1, 1, 1), (2, 3, 1)])
def test_linear_refuses_a_bias_that_does_not_fit(sizes: tuple[int, ...]) -> None:
    x, weight = random(2, 3), random(3, 3)
    with pytest.raises(RuntimeError, match="expanded size"):
        vivace.nn.functional.linear(x, weight, vivace.ones(sizes, dtype=x.dtype))
    if sizes != (1, 1, 1):
        with pytest.raises(RuntimeError, match="expanded size"):
            vivace.nn.functional.linear(x[0], weight, vivace.ones(sizes, dtype=x.dtype))


@pytest.mark.parametrize("sizes", [(), (1,), (3,), (1, 3), (2, 1), (2, 3)])
def test_linear_broadcasts_its_bias(sizes: tuple[int, ...]) -> None:
    x, weight, bias = random(2, 3), random(3, 3), vivace.randn(sizes, dtype=vivace.float64)
    want = x.detach().numpy() @ weight.detach().numpy().T + bias.detach().numpy()
    np.testing.assert_allclose(vivace.nn.functional.linear(x, weight, bias).detach().numpy(), want)


def test_tensordot_takes_numbers_lists_and_tensors_of_dims() -> None:
    a, b = random(2, 3, 4).detach(), random(3, 4, 5).detach()
    want = np.tensordot(a.numpy(), b.numpy(), 2)
    for dims in (2, vivace.tensor(2), ((1, 2), (0, 1)), vivace.tensor([[-1, 1], [1, 0]])):
        np.testing.assert_allclose(vivace.tensordot(a, b, dims).numpy(), want)
    out = vivace.empty(2, 5, dtype=a.dtype)
    assert vivace.tensordot(a, b, out=out) is out
    # A dim of size 1 stands for any size.
    np.testing.assert_allclose(
        vivace.tensordot(a[:, :1, :1], b).numpy(), want * 0 + (a[:, :1, 0] * b.sum((0, 1))).numpy()
    )
    for dims in (-1, 4, "a", ((0, 1), (0,)), ((1, 1), (0, 0))):
        with pytest.raises(RuntimeError):
            vivace.tensordot(a, b, dims)


def test_multi_dot_takes_the_cheap_order() -> None:
    wide = vivace.ones(10_000, 1)
    assert linalg.multi_dot([wide, wide.T, wide, wide.T, vivace.ones(10_000)]).eq(10_000.0**2).all()  # else 400 MB
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        linalg.multi_dot([vivace.ones(2, 2), vivace.ones(3, 2)])
    with pytest.raises(RuntimeError, match="at least 2 tensors"):
        linalg.multi_dot([vivace.ones(2, 2)])


def test_vander_of_a_number_and_of_no_powers() -> None:
    assert linalg.vander(vivace.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    assert vivace.vander(vivace.ones(3), 0).shape == (3, 0)
    assert vivace.vander(vivace.tensor([2], dtype=vivace.uint8), 3).tolist() == [[4, 2, 1]]
    with pytest.raises(RuntimeError):
        linalg.vander(vivace.ones(3), N=1)


def test_integrals_against_numpy() -> None:
    y, x = random(2, 5).detach(), random(5).detach()
    np.testing.assert_allclose(vivace.trapezoid(y, x).numpy(), np.trapezoid(y.numpy(), x.numpy()))
    np.testing.assert_allclose(vivace.trapz(y, dx=0.5).numpy(), np.trapezoid(y.numpy(), dx=0.5))
    np.testing.assert_allclose(vivace.cumulative_trapezoid(y, x)[:, -1].numpy(), np.trapezoid(y.numpy(), x.numpy()))
    assert vivace.trapezoid(vivace.ones(2, 0)).tolist() == [0, 0]
    for call in (lambda: vivace.trapezoid(y, dx=True), lambda: vivace.trapezoid(y, x[:3])):
        with pytest.raises(RuntimeError):
            call()


FUNCTIONS = {
    "addr": (vivace.addr, [(2, 3), (2,), (3,)]),
    "inner": (vivace.inner, [(2, 3), (4, 3)]),
    "kron": (vivace.kron, [(2, 1), (3, 2, 1)]),
    "tensordot": (vivace.tensordot, [(2, 3, 2), (3, 2, 2)]),
    "vecdot": (linalg.vecdot, [(2, 3), (3,)]),
    "cross": (vivace.cross, [(2, 3), (1, 3)]),
    "multi_dot": (lambda *m: linalg.multi_dot(m), [(2,), (2, 3), (3, 1)]),
    "tensorsolve": (linalg.tensorsolve, [(2, 2, 4), (2, 2)]),
    "tensorinv": (linalg.tensorinv, [(2, 2, 4)]),
    "vander": (vivace.vander, [(3,)]),
    "linalg.vander": (linalg.vander, [(2, 3)]),
    "trapezoid": (vivace.trapezoid, [(2, 3), (3,)]),
    "cumulative_trapezoid": (vivace.cumulative_trapezoid, [(2, 3), (3,)]),
}


@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str, dtype: object) -> None:
    function, sizes = FUNCTIONS[name]
    inputs = [random(*s, dtype=dtype) for s in sizes]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("sizes", [(5,), (6, 5), (2, 6, 3), (0,)])
def test_a_bias_that_fits_nothing(sizes: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="must match"):
        vivace.nn.functional.linear(vivace.ones(6, 4), vivace.ones(3, 4), vivace.ones(*sizes))


@pytest.mark.parametrize("sizes", [(1,), (4,), (2, 3), ()])
def test_pivots_that_fit_no_factors(sizes: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="LU_pivots should have shape"):
        vivace.lu_unpack(vivace.ones(3, 3), vivace.ones(sizes, dtype=vivace.int32))

"""Packed QR, LDL factors, least squares, the exponential: what they solve, derivatives, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import vivace
from vivace import linalg
from vivace.autograd import gradcheck, gradgradcheck

DTYPES = (vivace.float32, vivace.float64, vivace.complex64, vivace.complex128)
DOUBLE = (vivace.float64, vivace.complex128)


def random(*sizes: int, dtype: object = vivace.float64) -> vivace.Tensor:
    vivace.manual_seed(sum(sizes))
    return vivace.randn(*sizes, dtype=dtype, requires_grad=True)


def close(a: vivace.Tensor, b: vivace.Tensor, tolerance: float | None = None) -> None:
    single = a.dtype in (vivace.float32, vivace.complex64)
    tolerance = tolerance or (1e-3 if single else 1e-9)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(3, 3), (2, 5, 3), (0, 4, 2)])
def test_reflectors_make_q(sizes: tuple[int, ...], dtype: object) -> None:
    a = random(*sizes, dtype=dtype).detach()
    packed, tau = vivace.geqrf(a)
    q, r = linalg.householder_product(packed, tau), packed[..., : sizes[-1], :].triu()
    close(q @ r, a)
    close(vivace.orgqr(packed, tau), q)
    whole = linalg.qr(a, "complete")
    signs = (whole.Q[..., : sizes[-1]].mH @ q).diagonal(dim1=-2, dim2=-1)
    close(signs.abs(), vivace.ones_like(signs.abs()))
    for left in (True, False):
        c = random(*sizes[:-2], *((sizes[-2], 4) if left else (4, sizes[-2])), dtype=dtype).detach()
        there = vivace.ormqr(packed, tau, c, left=left)
        close(vivace.ormqr(packed, tau, there, left=left, transpose=True), c)
        if left:
            close(vivace.ormqr(packed, tau, a, transpose=True)[..., : sizes[-1], :], r)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_solves(hermitian: bool, dtype: object) -> None:
    a, b = random(2, 4, 4, dtype=dtype).detach(), random(3, 1, 4, 2, dtype=dtype).detach()
    a = a + (a.mH if hermitian else a.mT)
    factors, pivots = linalg.ldl_factor(a, hermitian=hermitian)
    assert factors.triu(1).eq(0).all()
    close(a @ linalg.ldl_solve(factors, pivots, b, hermitian=hermitian), b.expand(3, 2, 4, 2))
    assert linalg.ldl_factor_ex(vivace.zeros(2, 2)).info == 1
    with pytest.raises(linalg.LinAlgError):
        linalg.ldl_factor(vivace.zeros(2, 2))
    with pytest.raises(RuntimeError, match="pivots are between"):
        linalg.ldl_solve(factors, pivots * 100, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (2, 5, 3)])
def test_least_squares(sizes: tuple[int, ...], driver: str | None, dtype: object) -> None:
    a = random(*sizes, dtype=dtype).detach()
    b = random(*sizes[:-1], 2, dtype=dtype).detach()
    found = linalg.lstsq(a, b, driver=driver)
    close(found.solution, linalg.pinv(a) @ b)
    if sizes[-2] > sizes[-1] and driver not in (None, "gelsy"):
        close(found.residuals, (a @ found.solution - b).abs().square().sum(-2))
    else:
        assert found.residuals.numel() == 0
    if driver != "gels":
        assert found.rank.eq(3).all()
    if driver in ("gelsd", "gelss"):
        close(found.singular_values, linalg.svdvals(a))
    close(linalg.lstsq(a, b[..., 0], driver=driver).solution, found.solution[..., 0])


def test_least_squares_of_lower_rank_and_errors() -> None:
    a, b = vivace.ones(4, 2), vivace.ones(4, 1)
    for driver in ("gelsy", "gelsd", "gelss"):
        found = linalg.lstsq(a, b, driver=driver)
        close(found.solution, vivace.full((2, 1), 0.5))
        assert found.rank == 1
        assert found.residuals.numel() == 0
    assert linalg.lstsq(vivace.eye(3), vivace.ones(3, 1), rcond=2.0).rank == 1
    assert linalg.lstsq(vivace.zeros(0, 3), vivace.zeros(0, 2)).solution.eq(0).all()
    with pytest.raises(linalg.LinAlgError):
        linalg.lstsq(a * float("inf"), b, driver="gelsd")
    for call in (
        lambda: linalg.lstsq(a, b, driver="qr"),
        lambda: linalg.lstsq(a, b[:3]),
        lambda: linalg.lstsq(a, b.double()),
        lambda: linalg.lstsq(a[0], b),
    ):
        with pytest.raises(RuntimeError):
            call()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.1, 1.0, 30.0])
def test_exponential_by_eigenvalues(size: float, dtype: object) -> None:
    a = random(3, 5, 5, dtype=dtype).detach()
    a = (a + a.mH) * (size / linalg.matrix_norm(a + a.mH, 2)).reshape(3, 1, 1)
    values, vectors = linalg.eigh(a)
    want = (vectors * values.exp().unsqueeze(-2)) @ vectors.mH
    single = dtype in (vivace.float32, vivace.complex64)
    scale = float(want.abs().max())
    close(vivace.matrix_exp(a) / scale, want / scale, 1e-5 if single else 1e-13)


def test_exponential_of_what_is_not_finite() -> None:
    assert vivace.matrix_exp(vivace.tensor([[1.0, float("inf")], [0, 1]])).isnan().all()
    close(vivace.matrix_exp(vivace.tensor([[0.0, 1e4], [0, 0]])), vivace.tensor([[1.0, 1e4], [0, 1]]))
    for bad in (vivace.ones(2, 3), vivace.ones(2), vivace.ones(2, 2, dtype=vivace.int64)):
        with pytest.raises(RuntimeError):
            vivace.matrix_exp(bad)


FUNCTIONS = {
    "householder_product": (linalg.householder_product, [(2, 4, 3), (2, 2)]),
    "ormqr": (vivace.ormqr, [(4, 3), (3,), (4, 2)]),
    "ormqr transposed": (lambda *t: vivace.ormqr(*t, transpose=True), [(4, 3), (3,), (4, 2)]),
    "ormqr right": (lambda *t: vivace.ormqr(*t, left=False), [(4, 2), (2,), (3, 4)]),
    "ormqr right transposed": (lambda *t: vivace.ormqr(*t, False, True), [(4, 2), (2,), (3, 4)]),
    "lstsq high": (lambda a, b: linalg.lstsq(a, b, driver="gelsd")[:2], [(4, 2), (4, 1)]),
    "lstsq wide": (lambda a, b: linalg.lstsq(a, b).solution, [(2, 3), (2, 1)]),
    "matrix_exp": (vivace.matrix_exp, [(2, 3, 3)]),
}


@pytest.mark.parametrize("dtype", DOUBLE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str, dtype: object) -> None:
    function, sizes = FUNCTIONS[name]
    inputs = [random(*s, dtype=dtype) for s in sizes]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_what_has_no_derivative_says_so() -> None:
    with pytest.raises(RuntimeError, match="the derivative for 'geqrf' is not implemented"):
        vivace.geqrf(random(3, 3))[0].sum().backward()
    with pytest.raises(RuntimeError, match="not implemented"):
        linalg.ldl_factor(random(3, 3)).LD.sum().backward()

"""Decompositions: what their factors multiply to, gradients through all dtypes and shapes, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import vivace
from vivace import linalg
from vivace.autograd import gradcheck, gradgradcheck

DTYPES = (vivace.float32, vivace.float64, vivace.complex64, vivace.complex128)


def random(*sizes: int, dtype: object = vivace.float64) -> vivace.Tensor:
    vivace.manual_seed(sum(sizes))
    return vivace.randn(*sizes, dtype=dtype)


def hermitian(t: vivace.Tensor) -> vivace.Tensor:
    return t + t.mH


def positive(t: vivace.Tensor) -> vivace.Tensor:
    return t @ t.mH + 2 * vivace.eye(t.shape[-1], dtype=t.dtype)


def close(a: vivace.Tensor, b: vivace.Tensor) -> None:
    tolerance = 1e-3 if a.dtype in (vivace.float32, vivace.complex64) else 1e-9
    np.testing.assert_allclose(a.numpy(), b.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4, 3), (2, 3, 5), (0, 3, 2), (3, 0)])
def test_factors_multiply_to_the_matrix(sizes: tuple[int, ...], dtype: object) -> None:
    a = random(*sizes, dtype=dtype)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        close(q @ r, a)
        close(q.mH @ q, vivace.eye(q.shape[-1], dtype=dtype).expand(*sizes[:-2], -1, -1))
    u, s, vh = linalg.svd(a, full_matrices=False)
    close(u * s.unsqueeze(-2) @ vh, a)
    full = linalg.svd(a)
    assert full.U.shape[-1] == sizes[-2]
    assert full.Vh.shape[-2] == sizes[-1]
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(dtype: object) -> None:
    a = random(2, 4, 4, dtype=dtype)
    values, vectors = linalg.eig(a)
    close(a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2))
    h = hermitian(a)
    for triangle, half in (("L", h.tril()), ("U", h.triu())):
        values, vectors = linalg.eigh(half, triangle)
        close(h @ vectors, vectors * values.unsqueeze(-2))


FUNCTIONS = {
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": lambda a: linalg.slogdet(a)[1],
    "solve": lambda a: linalg.solve(a, a[..., :2] * 2),
    "cholesky": lambda a: linalg.cholesky(positive(a)),
    "cholesky upper": lambda a: linalg.cholesky(positive(a), upper=True),
    "cholesky_solve": lambda a: vivace.cholesky_solve(a, linalg.cholesky(positive(a))),
    "lu": lambda a: linalg.lu(a)[1:],
    "lu_solve": lambda a: linalg.lu_solve(*linalg.lu_factor(a), a, adjoint=True),
    "qr": linalg.qr,
    "svd": lambda a: (linalg.svd(a, False)[0].abs(), linalg.svd(a, False)[1], linalg.svd(a, False)[2].abs()),
    "svdvals": linalg.svdvals,
    "eigh": lambda a: (linalg.eigh(hermitian(a))[0], linalg.eigh(hermitian(a))[1].abs()),
    "eigvalsh": lambda a: linalg.eigvalsh(hermitian(a)),
    "eig": lambda a: (linalg.eig(a)[0], linalg.eig(a)[1].abs()),
}


@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str, dtype: object) -> None:
    a = random(2, 3, 3, dtype=dtype).requires_grad_()
    assert gradcheck(FUNCTIONS[name], (a,))
    assert gradgradcheck(FUNCTIONS[name], (a,))


@pytest.mark.parametrize("sizes", [(4, 2), (2, 4)])
@pytest.mark.parametrize("name", ["lu", "qr", "svd", "svdvals"])
def test_gradients_of_oblong_matrices(name: str, sizes: tuple[int, ...]) -> None:
    assert gradcheck(FUNCTIONS[name], (random(*sizes).requires_grad_(),))


def test_the_gradient_of_a_determinant_that_is_zero_is_the_adjugate() -> None:
    a = vivace.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=vivace.float64, requires_grad=True)
    linalg.det(a).backward()
    close(a.grad, vivace.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=vivace.float64))


def test_errors_are_pytorchs() -> None:
    with pytest.raises(linalg.LinAlgError, match=r"linalg\.inv: The diagonal element 2 is zero, the inversion"):
        linalg.inv(vivace.ones(2, 2))
    with pytest.raises(linalg.LinAlgError, match=r"linalg\.inv: \(Batch element 1\): The diagonal element 1 is zero"):
        vivace.stack([vivace.eye(2), vivace.zeros(2, 2)]).inverse()
    with pytest.raises(linalg.LinAlgError, match="The solver failed because the input matrix is singular"):
        linalg.solve(vivace.zeros(2, 2), vivace.ones(2))
    with pytest.raises(linalg.LinAlgError, match=r"leading minor of order 1 is not positive-definite"):
        linalg.cholesky(-vivace.eye(2))
    with pytest.raises(RuntimeError, match="must be batches of square matrices, but they are 2 by 3 matrices"):
        linalg.inv(vivace.ones(2, 3))
    with pytest.raises(RuntimeError, match="must have at least 2 dimensions"):
        linalg.det(vivace.ones(3))
    assert linalg.inv_ex(vivace.zeros(2, 2)).info.item() == 1


@pytest.mark.parametrize("bad", [float("inf"), -float("inf"), float("nan")])
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_with_infinities_are_refused(bad: float, dtype: object) -> None:
    a = random(3, 4, dtype=dtype)
    a[0, 2] = bad
    square = a[:, :3].clone()
    for call in (linalg.svd, linalg.svdvals, linalg.pinv, vivace.pinverse):
        with pytest.raises(linalg.LinAlgError, match="non-finite values"):
            call(a)
    for call in (linalg.eigh, linalg.eigvalsh):
        with pytest.raises(linalg.LinAlgError, match="non-finite values"):
            call(square)
    for call in (linalg.eig, linalg.eigvals):
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            call(square)


def test_nan_reads_as_singular() -> None:
    a = vivace.ones(3, 3)
    a[0, 2] = a[2, 0] = float("nan")
    with pytest.raises(linalg.LinAlgError, match="diagonal element 2 is zero"):
        linalg.inv(a)
    with pytest.raises(linalg.LinAlgError, match="leading minor of order 2"):
        linalg.cholesky(a)


def test_norms_of_matrices_with_an_empty_dim() -> None:
    for sizes, orders in (((0, 3), (2, float("inf"), "fro", "nuc")), ((3, 0), (1, 2, "fro", "nuc"))):
        for order in orders:
            assert linalg.norm(vivace.ones(2, *sizes), order, (1, 2), keepdim=True).tolist() == [[[0.0]], [[0.0]]]
    with pytest.raises(IndexError):
        linalg.norm(vivace.ones(0, 3), -2)
    for order in (None, 1, -2, float("inf")):
        assert linalg.cond(vivace.ones(2, 0, 0), order).tolist() == [0, 0]


def test_power_0_has_a_gradient() -> None:
    x = vivace.full((2, 2), float("nan"), requires_grad=True)
    power = linalg.matrix_power(x, 0)
    assert power.tolist() == [[1, 0], [0, 1]]
    assert vivace.autograd.grad(power.sum(), x)[0].eq(0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_pseudoinverse_of_hermitian_matrices_reads_one_triangle(dtype: object) -> None:
    a = hermitian(random(2, 4, 4, dtype=dtype))
    close(linalg.pinv(a.tril(), hermitian=True), linalg.inv(a))
    low = a[..., :2] @ a[..., :2].mH
    close(linalg.pinv(low, rtol=1e-3, hermitian=True), linalg.pinv(low, rtol=1e-3))
    if dtype in (vivace.float64, vivace.complex128):
        assert gradcheck(
            lambda x: linalg.pinv(hermitian(x), hermitian=True), random(3, 3, dtype=dtype).requires_grad_()
        )
    assert linalg.pinv(vivace.ones(0, 3), hermitian=True).shape == (3, 0)
    assert linalg.matrix_rank(vivace.ones(0, 3), hermitian=True) == 0


def test_second_derivatives_of_pseudoinverses_of_lower_rank() -> None:
    factors = random(4, 2).requires_grad_(), random(2, 3).requires_grad_()
    assert gradgradcheck(lambda a, b: linalg.pinv(a @ b), factors)
    assert gradgradcheck(lambda a, b: linalg.pinv(a @ a.mT, hermitian=True), factors[:1] * 2)


def test_lu_in_its_older_form() -> None:
    a = random(2, 3, 3)
    packed, pivots = vivace.lu(a)
    close(packed, linalg.lu_factor(a).LU)
    assert vivace.lu(vivace.zeros(2, 2), get_infos=True)[2] == 1
    with pytest.raises(linalg.LinAlgError):
        vivace.zeros(2, 2).lu()
    out = vivace.empty(0), vivace.empty(0, dtype=vivace.int32)
    assert vivace.lu(a.float(), out=out) is out and out[1].tolist() == pivots.tolist()


def test_what_is_refused() -> None:
    with pytest.raises(linalg.LinAlgError, match="diagonal element 2 is zero"):
        vivace.cholesky_inverse(vivace.tensor([[1.0, 0], [0, 0]]))
    for function in (linalg.svd, linalg.svdvals):
        with pytest.raises(RuntimeError, match="driver"):
            function(vivace.ones(2, 2), driver="gesvd")


def test_einsum_of_integers_that_are_summed_first() -> None:
    a, b = vivace.ones(1, 2, 3, dtype=vivace.int32), vivace.ones(3, dtype=vivace.int32)
    assert vivace.einsum("...ik,...j->ij", a, b).tolist() == [[3, 3, 3]] * 2


def test_singular_systems_without_check() -> None:
    a = vivace.stack([vivace.zeros(2, 2), 2 * vivace.eye(2)])
    x, info = linalg.solve_ex(a, vivace.ones(2, 2, 1))
    assert info.tolist() == [1, 0] and info.dtype == vivace.int32
    assert not x[0].isfinite().any() and x[1].flatten().tolist() == [0.5, 0.5]
    with pytest.raises(linalg.LinAlgError, match=r"^torch\.linalg\.solve: \(Batch element 0\): The solver failed"):
        linalg.solve_ex(a, vivace.ones(2, 2, 1), check_errors=True)
    assert linalg.LinAlgError.__name__ == "_LinAlgError" and vivace._C._LinAlgError is linalg.LinAlgError


def test_ranks_of_least_squares() -> None:
    a = vivace.eye(3, 2)
    assert linalg.lstsq(a, vivace.ones(3, 1)).rank.shape == ()
    assert linalg.lstsq(a.expand(4, 3, 2), vivace.ones(4, 3, 1)).rank.tolist() == [2] * 4
    assert linalg.lstsq(a, vivace.ones(3, 1), driver="gels").rank.shape == (0,)


@pytest.mark.parametrize("dtype", [vivace.float32, vivace.float64])
def test_inverse_of_a_singular_matrix_is_what_substitution_gives(dtype: object) -> None:
    inf, nan = float("inf"), float("nan")
    matrices = vivace.tensor(
        [[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]], dtype=dtype
    )
    inverse, info = linalg.inv_ex(matrices)
    assert info.tolist() == [2, 0, 1]
    expected = [[[-inf, inf], [inf, -inf]], [[0.5, 0.0], [0.0, 0.25]], [[nan, nan], [nan, inf]]]
    np.testing.assert_array_equal(inverse.numpy(), expected)

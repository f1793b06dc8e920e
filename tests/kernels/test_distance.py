"""Distances: corners that samples don't reach, and second derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import vivace
from vivace.autograd import gradcheck, gradgradcheck

F = vivace.nn.functional
ORDERS = (0.0, 0.7, 1.0, 1.5, 2.0, 3.0, 3.5, 9.0, float("inf"))


def random(*sizes: int, dtype: object = vivace.float64) -> vivace.Tensor:
    vivace.manual_seed(sum(sizes))
    return vivace.randn(*sizes, dtype=dtype, requires_grad=True)


def reference(x: np.ndarray, y: np.ndarray, p: float) -> np.ndarray:
    return np.linalg.norm(x[..., :, None, :] - y[..., None, :, :], p, -1)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", [vivace.float32, vivace.float64])
def test_all_sizes_of_sets(p: float, dtype: object) -> None:
    for rows, others, width in ((1, 1, 1), (3, 200, 5), (70, 2, 65), (3, 0, 2), (2, 3, 0)):
        x, y = random(2, rows, width, dtype=dtype).detach(), random(others, width, dtype=dtype).detach()
        want = reference(x.double().numpy(), y.double().numpy(), p) if width else np.zeros((2, rows, others))
        for mode in (None, "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
            got = vivace.cdist(x, y, p, compute_mode=mode)
            np.testing.assert_allclose(got.numpy(), want, 1e-3 if dtype is vivace.float32 else 1e-9)
        pairs = np.triu_indices(rows, 1)
        want = reference(x[0].double().numpy(), x[0].double().numpy(), p)[pairs] if width else np.zeros(len(pairs[0]))
        np.testing.assert_allclose(F.pdist(x[0], p).numpy(), want, 1e-4)


@pytest.mark.parametrize("p", [p for p in ORDERS if p > 0])
def test_first_and_second_derivatives(p: float) -> None:
    inputs = random(2, 1, 3, 4), random(3, 5, 4)
    assert gradcheck(lambda x, y: vivace.cdist(x, y, p), inputs)
    assert gradgradcheck(lambda x, y: vivace.cdist(x, y, p), inputs)
    assert gradcheck(lambda x: F.pdist(x, p), random(4, 3))
    assert gradgradcheck(lambda x: F.pdist(x, p), random(4, 3))


@pytest.mark.parametrize("p", ORDERS)
def test_equal_points_have_slope_0(p: float) -> None:
    for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        x, y = vivace.ones(2, 3, requires_grad=True), vivace.ones(4, 3, requires_grad=True)
        for create_graph in (False, True):
            for grad in vivace.autograd.grad(vivace.cdist(x, y, p, mode).sum(), [x, y], create_graph=create_graph):
                assert grad.eq(0).all()
    x = vivace.ones(3, 2, requires_grad=True)
    for create_graph in (False, True):
        assert vivace.autograd.grad(F.pdist(x, p).sum(), x, create_graph=create_graph)[0].eq(0).all()


def test_euclidean_distance_by_a_product() -> None:
    inputs = random(30, 4), random(5, 4)
    assert "Euclidean" in vivace.cdist(*inputs).grad_fn.name()
    assert gradcheck(vivace.cdist, inputs)
    assert gradgradcheck(lambda x, y: vivace.cdist(x, y, 2.0, "use_mm_for_euclid_dist"), (random(3, 4), random(2, 4)))


@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
@pytest.mark.parametrize("p", [1, 2, 3, float("inf")])
def test_norms_of_differences_and_slices(p: float, dtype: object) -> None:
    x, y = random(3, 4, dtype=dtype), random(4, dtype=dtype)
    assert gradcheck(lambda x, y: vivace.dist(x, y, p), (x, y))
    assert gradgradcheck(lambda x, y: vivace.dist(x, y, p), (x, y))
    assert gradcheck(lambda x: vivace.renorm(x, p, 0, 1.5), x)
    assert gradgradcheck(lambda x: vivace.renorm(x, p, 0, 1.5), x)


def test_errors() -> None:
    x = vivace.ones(2, 3)
    for call in (
        lambda: vivace.cdist(x, x.double()),
        lambda: vivace.cdist(x, x, -1),
        lambda: vivace.cdist(x, vivace.ones(2, 2)),
        lambda: vivace.cdist(x.long(), x.long()),
        lambda: F.pdist(x[0]),
        lambda: F.pdist(x, -1),
        lambda: vivace.renorm(x, 0, 0, 1),
        lambda: vivace.renorm(x, 2, 0, -1),
        lambda: vivace.renorm(x[0], 2, 0, 1),
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError, match="compute_mode"):
        vivace.cdist(x, x, compute_mode="fast")

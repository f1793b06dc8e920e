"""Covariances, correlations and decompositions of low rank against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import vivace
from vivace.autograd import gradcheck, gradgradcheck

COUNTS, WEIGHTS = (1, 2, 3, 1), (0.5, 1.0, 2.0, 0.25)


def random(*sizes: int, dtype: object = vivace.float64) -> vivace.Tensor:
    vivace.manual_seed(sum(sizes))
    return vivace.randn(*sizes, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
def test_weights(correction: int, dtype: object) -> None:
    x = random(3, 4, dtype=dtype).detach()
    for counts in (None, COUNTS):
        for weights in (None, WEIGHTS):
            got = vivace.cov(
                x,
                correction=correction,
                fweights=counts and vivace.tensor(counts),
                aweights=weights and vivace.tensor(weights, dtype=vivace.float64),
            )
            want = np.cov(x.numpy(), ddof=correction, fweights=counts, aweights=weights)
            np.testing.assert_allclose(got.numpy(), want, 1e-12)
    np.testing.assert_allclose(vivace.corrcoef(x).numpy(), np.corrcoef(x.numpy()), 1e-12, 1e-12)


def test_corners_and_errors() -> None:
    x = vivace.arange(6.0).reshape(2, 3)
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert vivace.cov(x, correction=5).eq(float("inf")).all()
    assert vivace.cov(vivace.arange(6).reshape(2, 3)).dtype == vivace.float32
    assert vivace.cov(vivace.ones(0, 2)).shape == (0, 0)
    for options in (
        {"fweights": vivace.tensor([1.0, 2, 3])},
        {"fweights": vivace.tensor([1, 2])},
        {"fweights": vivace.tensor([1, -2, 3])},
        {"fweights": vivace.tensor([0, 0, 0])},
        {"fweights": vivace.tensor([[1, 2, 3]])},
        {"aweights": vivace.tensor([1, 2, 3])},
    ):
        with pytest.raises(RuntimeError, match="cov"):
            vivace.cov(x, **options)


@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
def test_first_and_second_derivatives(dtype: object) -> None:
    weights = vivace.tensor(WEIGHTS, dtype=vivace.float64)
    for function in (vivace.cov, lambda x: vivace.cov(x, aweights=weights), vivace.corrcoef):
        assert gradcheck(function, random(3, 4, dtype=dtype))
        assert gradgradcheck(function, random(3, 4, dtype=dtype))


@pytest.mark.parametrize("sizes", [(7, 5), (2, 5, 7)])
@pytest.mark.parametrize("dtype", [vivace.float64, vivace.complex128])
def test_low_rank(sizes: tuple[int, ...], dtype: object) -> None:
    a = random(*sizes[:-1], 2, dtype=dtype).detach() @ random(*sizes[:-2], 2, sizes[-1], dtype=dtype).detach()
    u, s, v = vivace.svd_lowrank(a, q=3)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), a.numpy(), atol=1e-10)
    np.testing.assert_allclose(s.numpy(), vivace.linalg.svdvals(a)[..., :3].numpy(), atol=1e-10)
    u, s, v = vivace.pca_lowrank(a)
    centred = a - a.mean(-2, keepdim=True)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), centred.numpy(), atol=1e-10)
    np.testing.assert_allclose(vivace.svd_lowrank(a, 2, M=a)[1].numpy(), 0, atol=1e-10)
    for options in ({"q": 6}, {"niter": -1}):
        with pytest.raises(ValueError, match="must be non-negative integer"):
            vivace.pca_lowrank(a, **options)

"""Sums without NaN and gradients of products, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import vivace as torch
from vivace.autograd import gradcheck, gradgradcheck

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("shape", [(3,), (5, 4), (3, 500), (500, 3), (70, 9000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nansum(shape: tuple[int, ...], dtype: type) -> None:
    x = np.where(RNG.rand(*shape) < 0.3, np.nan, RNG.randn(*shape)).astype(dtype)
    for t in (torch.from_numpy(x), torch.from_numpy(x.T.copy()).t() if x.ndim == 2 else torch.from_numpy(x)):
        for dim in (None, 0, -1):
            got = t.nansum() if dim is None else t.nansum(dim)
            np.testing.assert_allclose(got.numpy(), np.nansum(x.astype(float), dim), 1e-5, 1e-3)
    t = torch.from_numpy(x).requires_grad_()
    (t.nansum(0, keepdim=True) * 3).sum().backward()
    np.testing.assert_array_equal(t.grad.numpy(), np.where(np.isnan(x), 0, 3))


def test_nansum_of_other_types() -> None:
    nan = float("nan")
    assert torch.tensor([1, 2]).nansum().item() == 3 and torch.tensor([True, True]).nansum().item() == 2
    assert torch.tensor([1.0, nan, 2.0]).bfloat16().nansum().item() == 3
    assert torch.tensor([nan, nan]).nansum().item() == 0 and torch.empty(0).nansum().item() == 0
    out = torch.tensor([1.0, nan, 2.0]).nansum(dtype=torch.float64)
    assert out.dtype == torch.float64 and out.item() == 3
    with pytest.raises(RuntimeError, match="does not support complex"):
        torch.tensor([1j]).nansum()


@pytest.mark.parametrize("zeros", [0, 1, 2])
@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
def test_product_gradients(zeros: int, scale: float) -> None:
    x = RNG.rand(6, 7) + 0.5
    x[1, :zeros] = 0
    others = np.stack([np.delete(x, k, 1).prod(1) for k in range(7)], 1) * scale
    x[:, 0] *= scale
    others[:, 0] /= scale
    for line in (False, True):
        t = torch.from_numpy(x).requires_grad_()
        product = t.prod(1) if not line else torch.stack([row.prod() for row in t])
        (grad,) = torch.autograd.grad(product.sum(), t)
        np.testing.assert_allclose(grad.numpy(), others, 1e-12)
    if scale == 1:
        t = torch.from_numpy(x[:2, :3].copy()).requires_grad_()
        assert gradcheck(lambda a: a.prod(1), (t,)) and gradgradcheck(lambda a: a.prod(1), (t,))
        assert gradcheck(lambda a: (a + 1j * a.flip(0)).prod(0).abs(), (t[:, 2:].detach().requires_grad_(),))


def test_gradients_of_products_out_of_range() -> None:
    inf = float("inf")
    t = torch.tensor([[1e200, 1e150, 2.0], [1e-200, 1e-150, 0.5]], dtype=torch.float64, requires_grad=True)
    t.prod(1).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), [[2e150, 2e200, inf], [5e-151, 5e-201, 0]], 1e-12)
    single = torch.tensor([[1e30, 1e20, 2.0], [1e-30, 1e-20, 0.5], [1.0, 2.0, 3.0]], requires_grad=True)
    single.prod(1).sum().backward()
    assert single.grad.dtype == torch.float32
    np.testing.assert_allclose(single.grad.numpy(), [[2e20, 2e30, inf], [5e-21, 5e-31, 0], [6, 3, 2]], 1e-6)
    row = torch.tensor([1e30, 1e20, 2.0], requires_grad=True)
    row.prod().backward()
    np.testing.assert_allclose(row.grad.numpy(), [2e20, 2e30, inf], 1e-6)


def test_deviations_whose_squares_leave_the_range():
    """Also of blocks longer than a vector, in both directions."""
    for scale in (1e30, 1e-30):
        x = torch.from_numpy(np.random.RandomState(0).randn(37, 41)).mul(scale)
        for dim in (0, 1, (0, 1)):
            ours, expected = x.float().std(dim), x.std(dim).float()
            torch.testing.assert_close(ours, expected, rtol=1e-5, atol=0)
            torch.testing.assert_close(torch.std_mean(x.float().t(), dim)[0], x.t().std(dim).float(), rtol=1e-5, atol=0)
    assert torch.zeros(3, 40).std(0).eq(0).all() and torch.full((40,), 3.0).std() == 0

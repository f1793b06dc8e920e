"""Losses of class scores against NumPy, for scores of every layout and dtype."""

import numpy as np
import pytest

import vivace as torch

F = torch.nn.functional


def scores_of(layout, dtype):
    values = torch.from_numpy(np.random.default_rng(3).normal(size=(6, 20, 4))).to(dtype)
    if layout == "classes last":
        return values.transpose(1, 2).contiguous().transpose(1, 2)
    if layout == "every other class":
        return values.repeat_interleave(2, 1)[:, ::2]
    return values


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layout", ["contiguous", "classes last", "every other class"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss(layout, dtype, weighted):
    scores = scores_of(layout, dtype).requires_grad_()
    x = scores.detach().double().numpy()
    target = torch.from_numpy(np.arange(24).reshape(6, 4) * 7 % 20)
    weight = torch.arange(1, 21).to(dtype) / 4 if weighted else None
    counts = np.where(target.numpy() == 7, 0, 1.0)
    if weighted:
        counts = counts * ((target.numpy() + 1) / 4)
    picked = np.take_along_axis(x, target.numpy()[:, None], 1)[:, 0]
    tolerance = {torch.float32: 1e-6, torch.float64: 1e-14, torch.bfloat16: 1e-2, torch.float16: 2e-3}[dtype]
    for reduction, share in (("none", 1), ("sum", 1), ("mean", 1 / counts.sum())):
        loss = F.nll_loss(scores, target, weight=weight, ignore_index=7, reduction=reduction)
        expected = -picked * counts * share
        expected = expected if reduction == "none" else expected.sum()
        np.testing.assert_allclose(loss.double().detach().numpy(), expected, rtol=tolerance, atol=tolerance)
        g = torch.arange(1, loss.numel() + 1).reshape(loss.shape).to(dtype)
        (slope,) = torch.autograd.grad(loss, scores, g)
        wanted = np.zeros_like(x)
        np.put_along_axis(wanted, target.numpy()[:, None], (-counts * share * g.double().numpy())[:, None], 1)
        np.testing.assert_allclose(slope.double().numpy(), wanted, rtol=tolerance)


def test_ignored_rows_take_no_gradient():
    scores = torch.zeros(2, 3, requires_grad=True)
    loss = F.nll_loss(scores, torch.tensor([1, -100]), reduction="none")
    loss.backward(torch.tensor([2.0, float("inf")]))
    assert scores.grad.tolist() == [[0, -2, 0], [0, 0, 0]]


@pytest.mark.parametrize("weighted", [False, True])
def test_label_smoothing_over_many_classes(weighted):
    n, smoothing = 3000, 0.3
    x = np.random.default_rng(4).normal(size=(5, n)) * 3
    weight = np.linspace(0.5, 2, n) if weighted else np.ones(n)
    target = np.array([0, 2999, 17, 5, 1500])
    q = np.full((5, n), smoothing / n) + (1 - smoothing) * (np.arange(n) == target[:, None])
    q = q * weight / weight[target].sum()
    lse = np.log(np.exp(x).sum(1, keepdims=True))
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-13)):
        scores = torch.from_numpy(x).to(dtype).requires_grad_()
        loss = F.cross_entropy(
            scores,
            torch.from_numpy(target),
            weight=torch.from_numpy(weight).to(dtype) if weighted else None,
            label_smoothing=smoothing,
        )
        np.testing.assert_allclose(loss.item(), -(q * (x - lse)).sum(), rtol=tolerance)
        loss.backward()
        wanted = np.exp(x - lse) * q.sum(1, keepdims=True) - q
        np.testing.assert_allclose(scores.grad.numpy(), wanted, rtol=tolerance, atol=tolerance * 1e-2)

"""A second of sanity for the commit hook: one operator of each kind, one backward, one training step."""

from __future__ import annotations

from typing import Any

import pytest


def test_arithmetic_and_views(module: Any) -> None:
    a = module.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (a + a.t() * 2).tolist() == [[3.0, 8.0], [7.0, 12.0]]
    assert (a < 3).tolist() == [[True, True], [False, False]]
    assert a.sum(0).tolist() == [4.0, 6.0]
    assert (a @ a)[1].tolist() == [15.0, 22.0]
    a[0].add_(1)
    assert a.tolist() == [[2.0, 3.0], [3.0, 4.0]]


def test_backward(module: Any) -> None:
    x = module.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).exp().sum()
    assert y.grad_fn.name() == "SumBackward0"
    y.backward()
    assert x.grad.tolist() == pytest.approx([2 * 2.718281828, 4 * 54.59815], rel=1e-6)


def test_training_step_lowers_the_loss(module: Any) -> None:
    module.manual_seed(0)
    net = module.nn.Sequential(module.nn.Linear(3, 8), module.nn.Tanh(), module.nn.Linear(8, 1))
    optimizer = module.optim.SGD(net.parameters(), lr=0.1)
    x, y = module.randn(16, 3), module.randn(16, 1)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = module.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_wrong_shapes_are_named(module: Any) -> None:
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(4\)"):
        module.ones(3) + module.ones(4)

"""AdaptiveLogSoftmaxWithLoss: probabilities of classes in clusters."""

from __future__ import annotations

from typing import Any

import pytest


def test_probabilities(module: Any) -> None:
    module.manual_seed(0)
    layer = module.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0, head_bias=True).double()
    assert [tuple(p.shape) for p in layer.parameters()] == [(6, 16), (6,), (8, 16), (6, 8), (4, 16), (10, 4)]
    x = (3 * module.randn(9, 16, dtype=module.float64)).requires_grad_()
    target = module.tensor([1, 5, 15, 3, 19, 9, 4, 10, 0])
    log_prob = layer.log_prob(x)
    assert module.allclose(log_prob.exp().sum(1), module.ones(9, dtype=module.float64))
    output, loss = layer(x, target)
    assert module.allclose(output, log_prob.gather(1, target[:, None])[:, 0])
    assert loss.item() == pytest.approx(-output.mean().item())
    assert module.equal(layer.predict(x), log_prob.argmax(1))
    (grad,) = module.autograd.grad(loss, x)
    (expected,) = module.autograd.grad(module.nn.functional.nll_loss(layer.log_prob(x), target), x)
    assert module.allclose(grad, expected)
    single = layer(x[2], target[2])
    assert single.output.dim() == 0 and single.output.item() == pytest.approx(output[2].item())
    for cluster in ([1, 2], [11, 12]):  # nothing for the head alone, nothing for the first cluster
        rows = module.tensor(cluster)
        assert module.allclose(layer(x[:2], rows).output, log_prob[[0, 1], rows])


def test_refusals(module: Any) -> None:
    make = module.nn.AdaptiveLogSoftmaxWithLoss
    for cutoffs in ([4, 4], [20], [0, 3], [5, 2]):
        with pytest.raises(ValueError, match="unique, positive integers sorted in an increasing order"):
            make(8, 20, cutoffs)
    layer = make(16, 20, [4])
    x = module.ones(2, 16)
    for arguments, message in (
        ((x, module.tensor([1, 20])), r"Target values should be in \[0, 19\], but values in range \[1, 20\]"),
        ((x, module.tensor([1])), "the same size in the batch dimension"),
        ((x, module.tensor(1)), "0D target tensor expects 1D input tensors"),
        ((x, module.tensor([[1]])), "0D or 1D target tensor expected"),
    ):
        with pytest.raises(RuntimeError, match=message):
            layer(*arguments)

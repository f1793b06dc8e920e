"""linear_cross_entropy against the two operators that it joins, whole and in chunks."""

from __future__ import annotations

import pytest

import vivace as torch

F = torch.nn.functional


@pytest.mark.parametrize("chunk", [None, 1, 3, 100])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_gradients(chunk: int | None, reduction: str, weighted: bool) -> None:
    def leaf(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    inputs = leaf(7, 4), leaf(5, 4), leaf(5)
    target = torch.tensor([0, 1, 4, -100, 2, 2, 3])
    weight = torch.rand(5, dtype=torch.float64) if weighted else None
    options = None if chunk is None else torch.nn.LinearCrossEntropyOptions(batch_chunk_size=chunk)
    got = F.linear_cross_entropy(
        inputs[0], inputs[1], target, linear_bias=inputs[2], weight=weight, reduction=reduction, options=options
    )
    want = F.cross_entropy(F.linear(*inputs), target, weight=weight, reduction=reduction)
    torch.testing.assert_close(got, want)
    direction = torch.rand_like(got)
    for ours, theirs in zip(
        torch.autograd.grad(got, inputs, direction), torch.autograd.grad(want, inputs, direction), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_chunks_by_size() -> None:
    options = torch.nn.LinearCrossEntropyOptions
    assert options(batch_chunk_size=5).rows(100, 8, 8) == 5
    assert options(chunking_method=None).rows(100, 8, 8) == 100
    assert options(chunking_method="aspect_ratio").rows(1024, 64, 640) == 128
    assert options().rows(1024, 64, 640) == 64


def test_module_and_several_positions() -> None:
    loss = torch.nn.LinearCrossEntropyLoss(4, 5, out_features=(2,), bias=True)
    assert list(loss.state_dict()) == ["linear.weight", "linear.bias"]
    value = loss(torch.randn(3, 4), torch.tensor([[0, 1], [2, 3], [4, 4]]))
    assert value.shape == ()
    with pytest.raises(RuntimeError, match="requires batched input"):
        loss(torch.randn(4), torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="in_features"):
        loss(torch.randn(3, 5), torch.tensor([[0, 1]] * 3))

"""CTC losses against the sum over all alignments; unpooling and pools over random windows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import vivace as torch

F = torch.nn.functional


def collapsed(path: tuple[int, ...], blank: int) -> list[int]:
    return [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]


def brute_force(log_probs: np.ndarray, labels: list[int], blank: int) -> float:
    times, classes = log_probs.shape
    total = sum(
        math.exp(sum(log_probs[t, c] for t, c in enumerate(path)))
        for path in itertools.product(range(classes), repeat=times)
        if collapsed(path, blank) == labels
    )
    return -math.log(total) if total else math.inf


@pytest.mark.parametrize("blank", [0, 2])
def test_all_alignments(blank: int) -> None:
    rng = np.random.RandomState(blank)
    log_probs = torch.from_numpy(rng.randn(5, 4, 3)).log_softmax(-1)
    first, second = (c for c in range(3) if c != blank)
    sequences, times = [[first, first], [second, first], [], [first, second, first]], (5, 4, 3, 2)
    want = [
        brute_force(log_probs[:t, n].numpy(), labels, blank)
        for n, (labels, t) in enumerate(zip(sequences, times, strict=True))
    ]
    lengths = [len(s) for s in sequences]
    padded = torch.tensor([s + [first] * (3 - len(s)) for s in sequences])
    flat = torch.tensor([c for s in sequences for c in s])
    for targets in (padded, flat, padded.int()):
        got = F.ctc_loss(log_probs, targets, torch.tensor(times), torch.tensor(lengths), blank, "none")
        assert got.tolist() == pytest.approx(want)
    finite = F.ctc_loss(log_probs, padded, times, lengths, blank, "none", zero_infinity=True).tolist()
    assert finite == pytest.approx([*want[:3], 0]) and want[3] == math.inf
    mean = F.ctc_loss(log_probs, padded, times, lengths, blank, zero_infinity=True).item()
    assert mean == pytest.approx((want[0] / 2 + want[1] / 2 + want[2]) / 4)
    one = F.ctc_loss(log_probs[:, 0], padded[0, :2], torch.tensor(5), torch.tensor(2), blank, "none")
    assert one.item() == pytest.approx(want[0])


def test_gradient() -> None:
    x = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)
    targets, times, lengths = torch.tensor([[1, 1, 3], [2, 3, 0]]), (6, 5), (3, 2)
    assert torch.autograd.gradcheck(lambda t: F.ctc_loss(t.log_softmax(-1), targets, times, lengths), (x,))


def test_errors() -> None:
    log_probs, targets = torch.zeros(4, 2, 3), torch.ones(2, 2, dtype=torch.int64)
    for text, call in [
        ("input_lengths must be of size batch_size", lambda: F.ctc_loss(log_probs, targets, (4,), (2, 2))),
        ("at most 4, but got value 5", lambda: F.ctc_loss(log_probs, targets, (4, 5), (2, 2))),
        ("blank must be in label range", lambda: F.ctc_loss(log_probs, targets, (4, 4), (2, 2), 3)),
        ("size at least 3", lambda: F.ctc_loss(log_probs, targets, (4, 4), (2, 3))),
        ("must be integral", lambda: F.ctc_loss(log_probs, targets, torch.ones(2), torch.ones(2))),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpool_undoes_pool(dims: int) -> None:
    pool, unpool = getattr(F, f"max_pool{dims}d"), getattr(F, f"max_unpool{dims}d")
    x = torch.rand(2, 3, *(6, 4, 8)[:dims], dtype=torch.float64) + 0.1
    pooled, indices = pool(x, 2, return_indices=True)
    back = unpool(pooled, indices, 2)
    assert (
        back.shape == x.shape
        and ((back == x) | (back == 0)).all()
        and back.sum().item() == pytest.approx(pooled.sum().item())
    )
    torch.testing.assert_close(unpool(pooled[0], indices[0], 2), back[0])
    assert torch.autograd.gradcheck(lambda t: unpool(t, indices, 2), (pooled.requires_grad_(),))
    odd = x[..., :-1]
    pooled, indices = pool(odd, 2, return_indices=True)
    assert unpool(pooled, indices, 2, output_size=odd.shape).shape == odd.shape
    with pytest.raises(ValueError, match="invalid output_size"):
        unpool(pooled, indices, 2, output_size=[99] * dims)


@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_pool(dims: int) -> None:
    pool = getattr(F, f"fractional_max_pool{dims}d")
    x = torch.randn(2, 3, *(7, 8, 9)[:dims], dtype=torch.float64, requires_grad=True)
    samples = torch.full((2, 3, dims), 0.4, dtype=torch.float64)
    out, indices = pool(x, 2, output_size=4, return_indices=True, _random_samples=samples)
    assert out.shape == (2, 3, *[4] * dims)
    assert torch.equal(x.flatten(2).gather(2, indices.flatten(2)), out.flatten(2))
    step = (7 - 2) / 3
    starts = [int((i + 0.4) * step) - int(0.4 * step) for i in range(3)] + [5]
    for i, start in enumerate(starts):
        first = out[:, :, i].flatten(2).amax(2)
        window = x[:, :, start : start + 2].flatten(2).amax(2)
        assert (first <= window).all()
    assert torch.autograd.gradcheck(lambda t: pool(t, 2, output_size=4, _random_samples=samples), (x,))
    assert pool(x, 2, output_ratio=0.5).shape == (2, 3, *[n // 2 for n in x.shape[2:]])
    with pytest.raises(RuntimeError, match="too large relative to input size"):
        pool(x, 9, output_size=4)

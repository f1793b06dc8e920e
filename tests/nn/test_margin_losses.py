"""Margin losses against loops over samples and classes."""

import math

import numpy as np
import pytest

import vivace as torch
from vivace.nn import functional as F


def _multi_margin(x, target, p, margin, weight):
    losses = []
    for row, label in zip(x, target, strict=True):
        terms = [max(0.0, margin - row[label] + v) ** p * weight[label] for c, v in enumerate(row) if c != label]
        losses.append(sum(terms) / len(row))
    return losses


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_margin(p, weighted):
    rng = np.random.default_rng(0)
    x, target, weight = rng.standard_normal((6, 5)), rng.integers(0, 5, 6), rng.random(5) + 0.5
    want = _multi_margin(x, target, p, 0.7, weight if weighted else np.ones(5))
    options = {"p": p, "margin": 0.7, "weight": torch.tensor(weight) if weighted else None}
    scores, labels = torch.tensor(x, requires_grad=True), torch.tensor(target)
    got = F.multi_margin_loss(scores, labels, reduction="none", **options)
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
    np.testing.assert_allclose(F.multi_margin_loss(scores, labels, **options).item(), np.mean(want), rtol=1e-12)
    one = F.multi_margin_loss(scores[0], labels[0], reduction="none", **options)
    assert one.shape == () and one.item() == pytest.approx(want[0])
    assert torch.autograd.gradcheck(lambda s: F.multi_margin_loss(s, labels, **options), (scores,))


def test_multi_margin_of_a_sure_answer():
    """The target's own score is no term, so that infinity is no NaN."""
    loss = F.multi_margin_loss(torch.tensor([[math.inf, 1.0, 2.0]]), torch.tensor([0]))
    assert loss.item() == 0


def test_multilabel_margin():
    rng = np.random.default_rng(1)
    x, target = (
        rng.standard_normal((4, 5)),
        np.array([[2, 0, -1, 1, 3], [-1, 0, 1, 2, 3], [4, 3, 2, 1, 0], [1, -1, -1, 0, 0]]),
    )
    want = []
    for row, listed in zip(x, target, strict=True):
        labels = list(listed)[: list(listed).index(-1) if -1 in listed else 5]
        others = [c for c in range(5) if c not in labels]
        want.append(sum(max(0.0, 1 - row[label] + row[c]) for label in labels for c in others) / 5)
    got = F.multilabel_margin_loss(torch.tensor(x), torch.tensor(target), reduction="none")
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)

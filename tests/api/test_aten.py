"""Layers and losses of the torch namespace, in another signature than nn.functional's."""

from __future__ import annotations

import math
from typing import Any

import pytest


@pytest.fixture
def x(module: Any) -> Any:
    return module.linspace(-2, 2, 12).reshape(3, 4)


LOSSES: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("binary_cross_entropy_with_logits", ("x", "p"), {}),
    ("hinge_embedding_loss", ("x", "s"), {"margin": 0.5}),
    ("kl_div", ("x", "p"), {}),
    ("kl_div", ("x", "x"), {"log_target": True}),
    ("margin_ranking_loss", ("x", "y", "s"), {"margin": 0.5}),
    ("triplet_margin_loss", ("x", "y", "p"), {"swap": True}),
    ("cosine_embedding_loss", ("x", "y", "v"), {"margin": 0.1}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), LOSSES)
def test_losses(module: Any, x: Any, name: str, arguments: tuple[str, ...], options: dict[str, Any]) -> None:
    s = module.tensor([1.0, -1.0]).repeat(6).reshape(3, 4)
    values = {"x": x, "y": x.flip(0), "p": x.sigmoid(), "s": s, "v": s[:, 0]}
    tensors = [values[n] for n in arguments]
    one = getattr(module.nn.functional, name)(*tensors, reduction="none", **options)
    # Without a reduction there is none, as in PyTorch from Python.
    assert module.allclose(getattr(module, name)(*tensors, **options), one)
    assert module.allclose(getattr(module, name)(*tensors, reduction=1, **options), one.mean())
    assert module.allclose(getattr(module, name)(*tensors, reduction=2, **options), one.sum())


def test_poisson(module: Any, x: Any) -> None:
    expected = (x.exp() - 2 * x).mean()
    assert module.allclose(module.poisson_nll_loss(x, module.full_like(x, 2), True, False, 1e-8, 1), expected)


def test_pooling_with_indices(module: Any) -> None:
    q = module.tensor([[[1.0, 5.0, 2.0, 4.0, 3.0, 0.0]]])
    for values, indices in (module.max_pool1d_with_indices(q, 2), module.adaptive_max_pool1d(q, 3)):
        assert values.tolist() == [[[5, 4, 3]]] and indices.tolist() == [[[1, 3, 4]]]
    assert module.max_pool1d_with_indices(q, 3, 2, 1)[0].tolist() == [[[5, 5, 4]]]


def test_convolutions(module: Any) -> None:
    q, w = module.randn(2, 3, 8), module.randn(4, 3, 3)
    F = module.nn.functional
    assert module.equal(module.convolution(q, w, None, [2], [1], [1], False, [0], 1), F.conv1d(q, w, None, 2, 1))
    expected = F.conv_transpose1d(q, w[:3, :2], None, 2, 1, 1)
    assert module.equal(module.convolution(q, w[:3, :2], None, [2], [1], [1], True, [1], 1), expected)
    steps = module.conv_tbc(q.permute(2, 0, 1).contiguous(), w.permute(2, 1, 0).contiguous(), module.ones(4), 1)
    assert module.allclose(steps.permute(1, 2, 0), F.conv1d(q, w, module.ones(4), padding=1), atol=1e-6)
    grid = module.affine_grid_generator(module.eye(2, 3)[None], [1, 1, 2, 2], True)
    assert grid.tolist() == [[[[-1, -1], [1, -1]], [[-1, 1], [1, 1]]]]


def test_embedding(module: Any, x: Any) -> None:
    weight = x.clone().requires_grad_()
    rows = module.embedding(weight, module.tensor([0, 2, 0]), padding_idx=2)
    assert module.equal(rows, x[[0, 2, 0]])
    rows.sum().backward()
    assert weight.grad[:, 0].tolist() == [2, 0, 0]
    table = x.clone()
    assert module.embedding_renorm_(table, module.tensor([0]), 1.0, 2.0) is table
    assert table[0].norm().item() == pytest.approx(1, abs=1e-5) and module.equal(table[1:], x[1:])


def test_norms(module: Any, x: Any) -> None:
    q = module.randn(2, 3, 8)
    assert module.allclose(
        module.instance_norm(q, None, None, None, None, True, 0.1, 1e-5, False), module.nn.functional.instance_norm(q)
    )
    assert module.allclose(module.frobenius_norm(x, 1), x.pow(2).sum(1).sqrt())
    assert module.frobenius_norm(x, [0, 1], True).shape == (1, 1)
    assert module.allclose(module.nuclear_norm(x), module.linalg.svdvals(x).sum())
    assert module.nuclear_norm(q, (0, 2), True).shape == (1, 3, 1)
    assert module.allclose(module.norm_except_dim(x), x.pow(2).sum(1, keepdim=True).sqrt())
    assert module.norm_except_dim(x, 1, -1).item() == pytest.approx(x.abs().sum().item())


def test_dropouts(module: Any) -> None:
    for name in ("dropout_", "alpha_dropout_", "feature_alpha_dropout_", "feature_dropout_"):
        function, t = getattr(module, name), module.ones(64, 8, 2)
        assert function(t, 0.5, False) is t and t.eq(1).all()
        assert function(t, 0.5, True) is t
        assert t.unique().numel() == 2
        if "feature" in name:
            assert module.equal(t[..., 0], t[..., 1])
    kept = module.feature_dropout(module.ones(64, 8, 2), 0.5, True)
    assert kept.unique().tolist() == [0, 2] and module.equal(kept[..., 0], kept[..., 1])
    value, mask = module.native_dropout(module.ones(100), 0.2, True)
    assert module.allclose(value, mask * 1.25) and 60 < mask.sum() < 95
    assert module.native_dropout(module.ones(3), 1.0, True)[0].tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        module.feature_dropout(module.ones(2), 0.5, True)
    t = module.tensor([-1.0, 2.0])
    assert module.rrelu_(t) is t and t.tolist() == pytest.approx([-(1 / 8 + 1 / 3) / 2, 2])
    assert math.isclose(module.native_channel_shuffle(module.arange(8.0).reshape(1, 4, 2), 2)[0, 1, 0], 4)

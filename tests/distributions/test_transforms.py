"""Transforms undo themselves, keep to their codomain, and know their Jacobian."""

from __future__ import annotations

from typing import Any

import pytest


def transforms(module: Any) -> list[Any]:
    D = module.distributions
    return [
        D.ExpTransform(), D.AffineTransform(0.5, -2.0), D.AffineTransform(module.tensor([1.0, 2, 3]), 1.5, event_dim=1),
        D.PowerTransform(module.tensor(2.5)), D.SigmoidTransform(), D.TanhTransform(), D.SoftplusTransform(),
        D.StickBreakingTransform(), D.CorrCholeskyTransform(), D.ReshapeTransform((3,), (3, 1)),
        D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)]),
        D.IndependentTransform(D.ExpTransform(), 1),
        D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2]),
        D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.identity_transform], dim=-1),
        D.ExpTransform().inv, D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(16))
def test_inverse_and_jacobian(module: Any, number: int) -> None:
    t = transforms(module)[number]
    x = module.tensor([0.3, 0.7, 0.9], dtype=module.float64, requires_grad=True)
    y = t(x)
    assert t.codomain.check(y).all()
    assert module.allclose(t.inv(y), x, atol=1e-6)
    assert y.shape == t.forward_shape(x.shape) and x.shape == t.inverse_shape(y.shape)
    if "CorrCholesky" in repr(t):
        flat = y[module.tril_indices(3, 3, -1).unbind()]
    elif "StickBreaking" in repr(t):
        flat = y[:-1]
    else:
        flat = y.reshape(-1)
    rows = [module.autograd.grad(v, x, retain_graph=True)[0].tolist() for v in flat]
    jacobian = module.tensor(rows, dtype=module.float64)
    ours = t.log_abs_det_jacobian(x, y)
    if t.domain.event_dim == 0:
        assert module.allclose(ours, jacobian.diagonal().abs().log(), atol=1e-6)
        return
    a, b, c = jacobian.tolist()
    determinant = (
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    assert module.allclose(ours.sum(), module.tensor(abs(determinant), dtype=module.float64).log(), atol=1e-6)


def test_cache_returns_the_same_object(module: Any) -> None:
    t = module.distributions.ExpTransform(cache_size=1)
    x = module.tensor([0.5])
    y = t(x)
    assert t(x) is y and t.inv(y) is x


def test_an_inverse_has_a_class(module: Any) -> None:
    assert type(module.distributions.ExpTransform().inv) is module.distributions.transforms._InverseTransform


def test_transformed_distribution(module: Any) -> None:
    D = module.distributions
    base = D.Normal(module.zeros(4, 3), 1.0)
    d = D.TransformedDistribution(base, [D.ExpTransform(), D.StickBreakingTransform()])
    assert d.batch_shape == (4,) and d.event_shape == (4,)
    x = d.rsample((2,))
    assert x.shape == (2, 4, 4) and d.log_prob(x).shape == (2, 4)
    shifted = D.TransformedDistribution(D.Normal(0.0, 1.0), D.AffineTransform(3.0, -2.0))
    at = module.tensor([1.0, 4.0])
    assert module.allclose(shifted.log_prob(at), D.Normal(3.0, 2.0).log_prob(at))
    assert module.allclose(shifted.cdf(at), D.Normal(3.0, 2.0).cdf(at))
    assert module.allclose(shifted.icdf(shifted.cdf(at)), at)


def test_registries(module: Any) -> None:
    D = module.distributions
    c = D.constraints
    x = module.tensor([0.3, -0.7, 0.2])
    sets = [
        c.real, c.positive, c.greater_than(2.0), c.less_than(-1.0), c.unit_interval, c.interval(-2.0, 3.0), c.simplex,
        c.independent(c.positive, 1), c.corr_cholesky,
    ]  # fmt: skip
    for constraint in sets:
        for registry in (D.biject_to, D.transform_to):
            assert constraint.check(registry(constraint)(x)).all()
    with pytest.raises(NotImplementedError):
        D.biject_to(c.one_hot)

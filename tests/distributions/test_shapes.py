"""Batch and event shapes, expansion, checks of parameters and values, and distributions made of others."""

from __future__ import annotations

from typing import Any

import pytest


def test_broadcast_and_sample_shapes(module: Any) -> None:
    D = module.distributions
    d = D.Normal(module.zeros(3, 1), module.ones(4))
    assert d.batch_shape == (3, 4) and d.event_shape == ()
    assert d.sample().shape == (3, 4) and d.rsample((2, 5)).shape == (2, 5, 3, 4)
    assert d.log_prob(module.zeros(())).shape == (3, 4)
    assert D.Normal(0, 1).sample().shape == ()
    c = D.Categorical(logits=module.zeros(3, 5))
    assert c.batch_shape == (3,) and c.sample((2,)).shape == (2, 3)
    assert c.enumerate_support().shape == (5, 3) and c.enumerate_support(False).shape == (5, 1)
    v = D.Dirichlet(module.ones(3, 5))
    assert v.batch_shape == (3,) and v.event_shape == (5,) and v.sample((2,)).shape == (2, 3, 5)


def all_kinds(module: Any) -> list[Any]:
    D, one, half = module.distributions, module.ones(3), module.full((3,), 0.5)
    return [
        D.Bernoulli(half), D.Beta(one, one), D.Binomial(3, half), D.Categorical(module.ones(3, 4)),
        D.Cauchy(one, one), D.Chi2(one), D.ContinuousBernoulli(half), D.Dirichlet(module.ones(3, 2)),
        D.Exponential(one), D.FisherSnedecor(one, one), D.Gamma(one, one), D.Geometric(half), D.Gumbel(one, one),
        D.HalfCauchy(one), D.HalfNormal(one), D.Independent(D.Normal(module.ones(3, 2), 1.0), 1),
        D.InverseGamma(one, one), D.Kumaraswamy(one, one), D.LKJCholesky(3, one), D.Laplace(one, one),
        D.LogNormal(one, one), D.LogisticNormal(module.ones(3, 2), 1.0),
        D.MixtureSameFamily(D.Categorical(module.ones(3, 2)), D.Normal(module.ones(3, 2), 1.0)),
        D.Multinomial(3, module.ones(3, 4)), D.NegativeBinomial(3.0, half), D.Normal(one, one),
        D.OneHotCategorical(module.ones(3, 4)), D.Pareto(one, one), D.Poisson(one),
        D.RelaxedBernoulli(module.tensor(0.5), half), D.RelaxedOneHotCategorical(module.tensor(0.5), module.ones(3, 4)),
        D.StudentT(one), D.Uniform(one - 1, one), D.VonMises(one, one), D.Weibull(one, one),
    ]  # fmt: skip


def test_expand(module: Any) -> None:
    for d in all_kinds(module):
        name = type(d).__name__
        x = d.sample()
        wide = d.expand((2, 3))
        assert type(wide) is type(d)
        assert wide.batch_shape == (2, 3) and wide.event_shape == d.event_shape, name
        assert wide.sample((4,)).shape == (4, 2, 3) + tuple(d.event_shape), name
        assert module.allclose(wide.log_prob(x), d.log_prob(x).expand(2, 3)), name


def test_values_are_checked(module: Any) -> None:
    D = module.distributions
    for d in all_kinds(module):
        with pytest.raises(ValueError):
            d.log_prob(module.full(d.sample().shape, float("nan")))
    with pytest.raises(ValueError, match="not broadcastable"):
        D.Normal(module.zeros(3), 1.0).log_prob(module.zeros(4))
    with pytest.raises(ValueError, match="right-most size"):
        D.Dirichlet(module.ones(3)).log_prob(module.ones(4))
    assert D.Exponential(1.0, validate_args=False).log_prob(module.tensor(-1.0)).item() == 1


def test_parameters_are_checked(module: Any) -> None:
    D = module.distributions
    with pytest.raises(ValueError, match="Expected parameter scale .* to satisfy the constraint GreaterThan"):
        D.Normal(0.0, module.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="not defined when low"):
        D.Uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="must be specified"):
        D.Bernoulli()
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Dirichlet(module.tensor(1.0))
    with pytest.raises(ValueError, match="instances of"):
        D.Normal("a", 1.0)
    D.Normal(0.0, -1.0, validate_args=False)


def test_defaults_of_checks(module: Any) -> None:
    D = module.distributions
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        D.Normal(0.0, -1.0)


def test_subclass_with_own_init_expands_itself(module: Any) -> None:
    class Mine(module.distributions.Normal):
        def __init__(self) -> None:
            super().__init__(module.zeros(2), 1.0)

    with pytest.raises(NotImplementedError, match="custom .expand"):
        Mine().expand((3, 2))


def test_mixture(module: Any) -> None:
    D = module.distributions
    weights, means = module.tensor([0.25, 0.75]), module.tensor([-1.0, 3.0])
    d = D.MixtureSameFamily(D.Categorical(weights), D.Normal(means, module.tensor([1.0, 2.0])))
    x = module.tensor([0.5, 2.0])
    parts = [D.Normal(-1.0, 1.0), D.Normal(3.0, 2.0)]
    density = sum(w * p.log_prob(x).exp() for w, p in zip((0.25, 0.75), parts, strict=True))
    assert module.allclose(d.log_prob(x), density.log())
    assert d.mean.item() == 2
    assert abs(d.variance.item() - (0.25 * (1 + 9) + 0.75 * (4 + 1))) < 1e-5
    with pytest.raises(ValueError):
        D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(means, 1.0))


def test_straight_through_gradient(module: Any) -> None:
    logits = module.tensor([0.3, -0.2, 1.0], requires_grad=True)
    sample = module.distributions.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sorted(round(x, 6) for x in sample.tolist()) == [0, 0, 1]
    weights = module.tensor([1.0, 2.0, 3.0])
    (sample * weights).sum().backward()
    free = logits.detach().requires_grad_()
    (module.softmax(free, -1) * weights).sum().backward()
    assert module.allclose(logits.grad, free.grad)


def test_subclasses_expand_their_own_part(module: Any) -> None:
    D = module.distributions

    class Shifted(D.Independent):  # type: ignore[name-defined, misc]
        def __init__(self, shift: Any) -> None:
            self.shift = shift
            super().__init__(D.Normal(shift, module.ones(3)), 1)

        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Shifted, _instance)
            new.shift = self.shift.expand((*batch_shape, 3))
            return super().expand(batch_shape, new)

    wide = Shifted(module.zeros(3)).expand((2,))
    assert type(wide) is Shifted and wide.shift.shape == (2, 3)
    assert wide.batch_shape == (2,) and wide.event_shape == (3,) and wide.sample().shape == (2, 3)

    class Forgetful(D.Normal):  # type: ignore[name-defined, misc]
        def __init__(self, scale: Any) -> None:
            super().__init__(0, scale)

    with pytest.raises(NotImplementedError, match="Subclass Forgetful of Normal that defines a custom __init__"):
        Forgetful(module.ones(1)).expand((2,))

"""Every kl_divergence between distributions of numbers against an integral of their densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

CONTINUOUS: dict[str, tuple[dict[str, float], tuple[float, float]]] = {  # parameters; where the density is, nearly
    "Beta": (dict(concentration1=2.5, concentration0=3.2), (0, 1)),
    "ContinuousBernoulli": (dict(probs=0.3), (0, 1)),
    "Exponential": (dict(rate=1.4), (0, 30)),
    "Gamma": (dict(concentration=2.5, rate=0.8), (0, 60)),
    "Gumbel": (dict(loc=0.4, scale=1.2), (-6, 45)),
    "HalfNormal": (dict(scale=1.3), (0, 15)),
    "Laplace": (dict(loc=0.3, scale=0.8), (-28, 28)),
    "Normal": (dict(loc=0.3, scale=1.1), (-12, 12)),
    "Pareto": (dict(scale=0.5, alpha=6.0), (0.5, 300)),
    "Uniform": (dict(low=0.1, high=0.9), (0.1, 0.9)),
}
WIDER = {
    "Beta": dict(concentration1=1.5, concentration0=1.2),
    "ContinuousBernoulli": dict(probs=0.8),
    "Exponential": dict(rate=0.9),
    "Gamma": dict(concentration=1.5, rate=0.5),
    "Gumbel": dict(loc=0.1, scale=1.6),
    "HalfNormal": dict(scale=2.3),
    "Laplace": dict(loc=-0.2, scale=1.3),
    "Normal": dict(loc=-0.2, scale=1.9),
    "Pareto": dict(scale=0.05, alpha=4.5),
    "Uniform": dict(low=-0.5, high=1.5),
}


def make(module: Any, name: str, parameters: dict[str, float]) -> Any:
    tensors = {k: module.tensor(v, dtype=module.float64) for k, v in parameters.items()}
    return getattr(module.distributions, name)(**tensors, validate_args=False)


def panels(low: float, high: float, count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss's rule in each of many equal parts."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = (high - low) / count / 2
    centers = low + half * (2 * np.arange(count) + 1)
    return (centers[:, None] + half * nodes).ravel(), np.tile(half * weights, count)


@pytest.mark.parametrize("p_name", CONTINUOUS)
@pytest.mark.parametrize("q_name", WIDER)
def test_by_integration(module: Any, p_name: str, q_name: str) -> None:
    parameters, (low, high) = CONTINUOUS[p_name]
    p, q = make(module, p_name, parameters), make(module, q_name, WIDER[q_name])
    try:
        kl = module.distributions.kl_divergence(p, q)
    except NotImplementedError:
        return
    x, weights = panels(low, high)
    at = module.tensor(x.tolist(), dtype=module.float64)
    log_p = np.asarray(p.log_prob(at).tolist())
    support = q.support.check(at)
    if bool((support | (module.tensor(log_p.tolist()) < -25)).all()):
        terms = np.exp(log_p) * (log_p - np.asarray(q.log_prob(at).tolist()))
        expected = float((np.nan_to_num(terms) * weights).sum())
    else:
        expected = math.inf
    np.testing.assert_allclose(kl.item(), expected, rtol=2e-4, atol=2e-5)


def test_discrete(module: Any) -> None:
    D = module.distributions
    kl = D.kl_divergence

    def direct(p: Any, q: Any, n: int) -> float:
        x = module.arange(float(n), dtype=module.float64)
        return float((p.log_prob(x).exp() * (p.log_prob(x) - q.log_prob(x))).sum())

    def t(*x: float) -> Any:
        return module.tensor(x if len(x) > 1 else x[0], dtype=module.float64)

    pairs = [
        (D.Bernoulli(t(0.3)), D.Bernoulli(t(0.8)), 2),
        (D.Binomial(7, t(0.3)), D.Binomial(7, t(0.6)), 8),
        (D.Categorical(t(0.2, 0.3, 0.5)), D.Categorical(t(0.5, 0.1, 0.4)), 3),
        (D.Geometric(t(0.3)), D.Geometric(t(0.2)), 200),
        (D.Poisson(t(3.3)), D.Poisson(t(4.0)), 60),
    ]
    for p, q, n in pairs:
        np.testing.assert_allclose(kl(p, q).item(), direct(p, q, n), rtol=1e-6)
    assert kl(D.Bernoulli(t(0.5)), D.Bernoulli(t(1.0))).item() == math.inf
    assert kl(D.Bernoulli(t(0.0)), D.Bernoulli(t(0.0))).item() == 0


def test_registry(module: Any) -> None:
    D = module.distributions

    class Mine(D.Normal):
        pass

    def normal(kind: Any, loc: float) -> Any:
        return kind(module.tensor(loc), module.tensor(1.0))

    assert D.kl_divergence(normal(Mine, 0.0), normal(D.Normal, 2.0)).item() == 2
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Cauchy(module.tensor(0.0), module.tensor(1.0)), normal(D.Normal, 0.0))
    with pytest.raises(TypeError, match="Expected a Distribution subclass"):
        D.register_kl(3, D.Normal)

    @D.register_kl(Mine, D.Normal)
    def mine(p: Any, q: Any) -> str:
        return "mine"

    assert D.kl_divergence(normal(Mine, 0.0), normal(D.Normal, 2.0)) == "mine"


def test_independent_sums(module: Any) -> None:
    D = module.distributions
    p = D.Independent(D.Normal(module.zeros(2, 3), module.ones(2, 3)), 1)
    q = D.Independent(D.Normal(module.ones(2, 3), module.ones(2, 3)), 1)
    assert D.kl_divergence(p, q).tolist() == [1.5, 1.5]

"""Log densities, cumulative probabilities, moments and entropies against SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

Case = tuple[str, dict[str, Any], Any]

CASES: list[Case] = [
    ("Normal", dict(loc=0.3, scale=1.7), stats.norm(0.3, 1.7)),
    ("Uniform", dict(low=-1.0, high=2.5), stats.uniform(-1, 3.5)),
    ("Beta", dict(concentration1=0.7, concentration0=2.2), stats.beta(0.7, 2.2)),
    ("Gamma", dict(concentration=2.3, rate=0.8), stats.gamma(2.3, scale=1 / 0.8)),
    ("InverseGamma", dict(concentration=3.3, rate=0.8), stats.invgamma(3.3, scale=0.8)),
    ("Exponential", dict(rate=1.4), stats.expon(scale=1 / 1.4)),
    ("LogNormal", dict(loc=0.2, scale=0.6), stats.lognorm(0.6, scale=np.exp(0.2))),
    ("Laplace", dict(loc=-0.4, scale=1.3), stats.laplace(-0.4, 1.3)),
    ("Cauchy", dict(loc=0.5, scale=0.8), stats.cauchy(0.5, 0.8)),
    ("HalfNormal", dict(scale=1.2), stats.halfnorm(scale=1.2)),
    ("HalfCauchy", dict(scale=1.2), stats.halfcauchy(scale=1.2)),
    ("StudentT", dict(df=5.0, loc=0.3, scale=1.1), stats.t(5, 0.3, 1.1)),
    ("Gumbel", dict(loc=0.4, scale=1.6), stats.gumbel_r(0.4, 1.6)),
    ("Weibull", dict(scale=1.3, concentration=2.1), stats.weibull_min(2.1, scale=1.3)),
    ("Pareto", dict(scale=0.9, alpha=3.5), stats.pareto(3.5, scale=0.9)),
    ("Chi2", dict(df=3.0), stats.chi2(3)),
    ("FisherSnedecor", dict(df1=4.0, df2=9.0), stats.f(4, 9)),
    ("VonMises", dict(loc=0.3, concentration=4.5), stats.vonmises(4.5, 0.3)),
    ("GeneralizedPareto", dict(loc=0.5, scale=1.2, concentration=0.2), stats.genpareto(0.2, 0.5, 1.2)),
    ("Bernoulli", dict(probs=0.3), stats.bernoulli(0.3)),
    ("Binomial", dict(total_count=9, probs=0.35), stats.binom(9, 0.35)),
    ("NegativeBinomial", dict(total_count=4.0, probs=0.35), stats.nbinom(4, 0.65)),
    ("Poisson", dict(rate=3.2), stats.poisson(3.2)),
    ("Geometric", dict(probs=0.3), stats.geom(0.3, -1)),
]
IDS = [name for name, _, _ in CASES]
# SciPy's moments are those of the line, ours of the circle.
WITHOUT_MOMENTS = {"VonMises"}
CUMULATIVE = [
    "Normal", "Uniform", "Gamma", "InverseGamma", "Chi2", "Exponential", "LogNormal", "Laplace", "Cauchy", "HalfNormal",
    "HalfCauchy", "Gumbel", "Weibull", "Pareto", "GeneralizedPareto",
]  # fmt: skip
WITHOUT_INVERSE = {"Gamma", "InverseGamma", "Chi2"}


def make(module: Any, name: str, parameters: dict[str, Any]) -> Any:
    def tensor(x: Any) -> Any:
        return module.tensor([x], dtype=module.float64) if isinstance(x, float) else x

    return getattr(module.distributions, name)(**{k: tensor(v) for k, v in parameters.items()})


def points(reference: Any) -> np.ndarray:
    return np.unique(reference.ppf([0.02, 0.2, 0.5, 0.77, 0.98])).astype(float)


def close(ours: Any, theirs: Any, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(ours.tolist()), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "parameters", "reference"), CASES, ids=IDS)
def test_log_prob(module: Any, name: str, parameters: dict[str, Any], reference: Any) -> None:
    d = make(module, name, parameters)
    x = points(reference)
    log_prob = getattr(reference, "logpmf" if hasattr(reference.dist, "pmf") else "logpdf")
    close(d.log_prob(module.tensor(x.tolist(), dtype=module.float64)), log_prob(x))


@pytest.mark.parametrize(("name", "parameters", "reference"), CASES, ids=IDS)
def test_moments(module: Any, name: str, parameters: dict[str, Any], reference: Any) -> None:
    d = make(module, name, parameters)
    close(d.mean, [reference.mean()])
    if name in WITHOUT_MOMENTS:
        return
    if not name.endswith("Cauchy"):  # infinite here, undefined there
        close(d.variance, [reference.var()])
        close(d.stddev, [reference.std()])


@pytest.mark.parametrize(("name", "parameters", "reference"), CASES, ids=IDS)
def test_entropy(module: Any, name: str, parameters: dict[str, Any], reference: Any) -> None:
    d = make(module, name, parameters)
    try:
        entropy = d.entropy()
    except NotImplementedError:
        assert name in {"FisherSnedecor", "VonMises", "NegativeBinomial", "Poisson"}
        return
    close(entropy, [reference.entropy()])


@pytest.mark.parametrize(("name", "parameters", "reference"), CASES, ids=IDS)
def test_samples_have_the_mean(module: Any, name: str, parameters: dict[str, Any], reference: Any) -> None:
    d = make(module, name, parameters)
    x = np.asarray(d.sample((4000,)).tolist())
    assert x.shape == (4000, 1)
    if not name.endswith("Cauchy"):
        deviation = 1 if name in WITHOUT_MOMENTS else reference.std()
        assert abs(x.mean() - reference.mean()) < 0.1 * deviation


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in CUMULATIVE], ids=lambda c: c[0])
def test_cdf(module: Any, case: Case) -> None:
    name, parameters, reference = case
    d = make(module, name, parameters)
    x = points(reference)
    p = d.cdf(module.tensor(x.tolist(), dtype=module.float64))
    close(p, reference.cdf(x))
    if name not in WITHOUT_INVERSE:
        close(d.icdf(p), x)


def test_wishart(module: Any) -> None:
    scale = np.array([[2.0, 0.4, 0.1], [0.4, 1.3, -0.2], [0.1, -0.2, 0.7]])
    other = np.diag([1.0, 2.0, 3.0])
    D, covariance = module.distributions, module.tensor(scale.tolist(), dtype=module.float64)
    d, reference = D.Wishart(5.5, covariance_matrix=covariance), stats.wishart(5.5, scale)
    points = [np.eye(3), scale * 4, other]
    close(
        d.log_prob(module.tensor(np.stack(points).tolist(), dtype=module.float64)),
        reference.logpdf(np.stack(points, -1)),
    )
    close(d.entropy(), reference.entropy())
    close(d.mean, reference.mean())
    close(d.mode, reference.mode())
    close(d.variance, reference.var())
    close(D.ExponentialFamily.entropy(d), reference.entropy())
    for same in (D.Wishart(5.5, precision_matrix=covariance.inverse()), D.Wishart(5.5, scale_tril=d.scale_tril)):
        close(same.covariance_matrix, scale)
        close(same.precision_matrix, np.linalg.inv(scale))
    module.manual_seed(3)
    close(d.sample((20000,)).mean(0), reference.mean(), 0.15)
    q = D.Wishart(module.tensor([4.0, 6.0], dtype=module.float64), covariance_matrix=covariance + module.eye(3))
    x = d.sample((20000,)).unsqueeze(1)
    kl = D.kl_divergence(d, q)
    close(kl, (d.log_prob(x) - q.log_prob(x)).mean(0).tolist(), 0.05)
    assert q.expand((3, 2)).sample((4,)).shape == (4, 3, 2, 3, 3) and kl.shape == (2,)
    with pytest.raises(ValueError, match="expected to be greater than ndim - 1 = 2"):
        D.Wishart(2.0, covariance_matrix=covariance)
    with pytest.warns(UserWarning, match="Low df values"):
        D.Wishart(2.5, covariance_matrix=covariance)


def test_vectors(module: Any) -> None:
    alpha = [0.7, 1.8, 3.1]
    point = [0.2, 0.3, 0.5]
    d = module.distributions.Dirichlet(module.tensor(alpha, dtype=module.float64))
    reference = stats.dirichlet(alpha)
    close(d.log_prob(module.tensor(point, dtype=module.float64)), reference.logpdf(point))
    close(d.entropy(), reference.entropy())
    close(d.mean, reference.mean())
    close(d.variance, reference.var())
    p = [0.2, 0.3, 0.5]
    counts = module.distributions.Multinomial(6, probs=module.tensor(p, dtype=module.float64))
    close(counts.log_prob(module.tensor([1.0, 2.0, 3.0])), stats.multinomial(6, p).logpmf([1, 2, 3]))
    close(counts.entropy(), stats.multinomial(6, p).entropy())
    c = module.distributions.Categorical(logits=module.tensor(p, dtype=module.float64).log() + 3)
    close(c.log_prob(module.tensor([0, 2])), np.log([0.2, 0.5]))
    close(c.entropy(), stats.entropy(p))


@pytest.mark.parametrize("p", [0.2, 0.4995, 0.5, 0.93])
def test_continuous_bernoulli_integrates_to_one(module: Any, p: float) -> None:
    d = module.distributions.ContinuousBernoulli(module.tensor(p, dtype=module.float64))
    x = module.linspace(0, 1, 2001, dtype=module.float64)
    density = np.asarray(d.log_prob(x).exp().tolist())
    grid = np.asarray(x.tolist())
    mean = np.trapezoid(density * grid, grid)
    np.testing.assert_allclose(np.trapezoid(density, grid), 1, rtol=1e-6)
    np.testing.assert_allclose(d.mean.item(), mean, rtol=1e-5)
    np.testing.assert_allclose(d.variance.item(), np.trapezoid(density * (grid - mean) ** 2, grid), rtol=1e-4)
    np.testing.assert_allclose(d.cdf(d.icdf(x[1:-1])).tolist(), grid[1:-1], rtol=1e-5)


RELAXED: dict[str, Callable[[Any], Any]] = {
    "RelaxedBernoulli": lambda torch: torch.distributions.RelaxedBernoulli(
        torch.tensor(0.7, dtype=torch.float64), probs=torch.tensor([0.4], dtype=torch.float64)
    ),
    "Kumaraswamy": lambda torch: torch.distributions.Kumaraswamy(
        torch.tensor([1.7], dtype=torch.float64), torch.tensor([2.4], dtype=torch.float64)
    ),
}


@pytest.mark.parametrize("name", RELAXED)
def test_densities_on_the_unit_interval_integrate_to_one(module: Any, name: str) -> None:
    d = RELAXED[name](module)
    x = np.linspace(1e-4, 1 - 1e-4, 20001)
    density = np.exp(np.asarray(d.log_prob(module.tensor(x.tolist(), dtype=module.float64)).tolist()))
    np.testing.assert_allclose(np.trapezoid(density, x), 1, rtol=5e-3)

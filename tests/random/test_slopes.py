"""How gamma and Dirichlet numbers move with their parameters: implicit differentiation of SciPy's quantiles."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

QUANTILES = (0.01, 0.3, 0.5, 0.99)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, 2.5, 30.0, 400.0])
def test_gamma(module: Any, alpha: float) -> None:
    for q in QUANTILES:
        x = float(stats.gamma.ppf(q, alpha))
        if x < 1e-200:
            continue
        with mpmath.workdps(30):
            change = mpmath.diff(lambda a, x=x: mpmath.gammainc(a, 0, x, regularized=True), alpha)
            density = mpmath.exp((alpha - 1) * mpmath.log(x) - x - mpmath.loggamma(alpha))
            expected = float(-change / density)
        at = [module.tensor([v], dtype=module.float64) for v in (alpha, x)]
        np.testing.assert_allclose(module._standard_gamma_grad(*at).item(), expected, rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5, 30.0])
@pytest.mark.parametrize("beta", [0.2, 1.0, 7.0, 300.0])
def test_dirichlet(module: Any, alpha: float, beta: float) -> None:
    for q in QUANTILES:
        x = float(stats.beta.ppf(q, alpha, beta))
        if x > 1 - 1e-9:
            continue
        h = 1e-5 * alpha
        slope = float(stats.beta.ppf(q, alpha + h, beta) - stats.beta.ppf(q, alpha - h, beta)) / (2 * h)
        at = [module.tensor([v], dtype=module.float64) for v in (x, alpha, alpha + beta)]
        np.testing.assert_allclose(module._dirichlet_grad(*at).item(), slope / (1 - x), rtol=1e-5)


def test_gradient_of_samples(module: Any) -> None:
    """E[x] of a gamma is its shape, E of a Dirichlet part its share: so are the gradients, on average."""
    alpha = module.full((20000,), 1.7, dtype=module.float64, requires_grad=True)
    module._standard_gamma(alpha).sum().backward()
    assert abs(alpha.grad.mean().item() - 1) < 0.02
    concentration = module.tensor([0.8, 1.5, 2.2], dtype=module.float64, requires_grad=True)
    module._sample_dirichlet(concentration.expand(20000, 3)).mean(0)[0].backward()
    total = 4.5
    expected = [1 / total - 0.8 / total**2, -0.8 / total**2, -0.8 / total**2]
    np.testing.assert_allclose(concentration.grad.tolist(), expected, atol=0.004)

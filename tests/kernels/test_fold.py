"""Reductions over inner, middle and outer dims of sizes around a vector's, against float64."""

import numpy as np
import pytest


@pytest.mark.parametrize("shape", [(300, 10), (10, 300), (7, 33, 19), (3, 100, 100), (2, 5000), (5000, 2), (9, 128)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_every_dim(module, shape, dtype):
    x = np.random.default_rng(0).uniform(-9, 9, shape).astype(dtype)
    wide = x.astype(np.int64 if dtype == "int64" else np.float64)
    t = module.tensor(x)
    for dim in range(len(shape)):
        np.testing.assert_allclose(t.sum(dim).numpy(), wide.sum(dim), rtol=1e-6, atol=1e-3)
        np.testing.assert_array_equal(t.amax(dim).numpy(), x.max(dim))
        np.testing.assert_array_equal(t.amin(dim).numpy(), x.min(dim))
        if dtype != "int64":
            np.testing.assert_allclose(t.mean(dim).numpy(), wide.mean(dim), rtol=1e-6, atol=1e-5)
            norms = module.linalg.vector_norm(t, dim=dim).numpy()
            np.testing.assert_allclose(norms, np.sqrt((wide * wide).sum(dim)), rtol=1e-6)


def test_rows_of_halves(module):
    x = np.random.default_rng(1).standard_normal((40, 12)).astype(np.float16)
    got = module.tensor(x).sum(1)
    np.testing.assert_allclose(got.numpy(), x.astype(np.float64).sum(1).astype(np.float16), rtol=2e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders(module, dtype):
    """fmod and remainder are exact whatever the quotient."""
    rng = np.random.default_rng(2)
    a = (rng.standard_normal(4000) * 10.0 ** rng.integers(-20, 20, 4000)).astype(dtype)
    b = (rng.standard_normal(4000) * 10.0 ** rng.integers(-20, 20, 4000)).astype(dtype)
    near = a * rng.integers(-50, 50, 4000).astype(dtype)
    edges = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e-40, 1e30], dtype)
    pairs = [(a, b), (near, a), (np.repeat(edges, 9), np.tile(edges, 9))]
    for x, y in pairs:
        with np.errstate(all="ignore"):
            want = np.fmod(x, y)
        got = module.fmod(module.tensor(x), module.tensor(y)).numpy()
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))

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


STEPS = [slice(None), slice(None, None, 3)]


@pytest.mark.parametrize("shape", [(600, 10), (10, 600), (7, 33, 19), (300, 270)])
@pytest.mark.parametrize("step", STEPS, ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64", "float16"])
def test_truth_and_counts(module, shape, step, dtype):
    whole = np.random.default_rng(0).integers(-3, 4, shape) * (np.random.default_rng(1).random(shape) < 0.1)
    x = whole.astype(dtype)[..., step]
    t = module.tensor(whole.astype(dtype))[..., step]
    for dim in range(len(shape)):
        np.testing.assert_array_equal(t.count_nonzero(dim).numpy(), np.count_nonzero(x, dim))
        np.testing.assert_array_equal(t.any(dim).numpy(), (x != 0).any(dim))
        np.testing.assert_array_equal(t.all(dim).numpy(), (x != 0).all(dim))
    assert t.count_nonzero().item() == np.count_nonzero(x)
    assert module.ones(100_003, dtype=getattr(module, dtype)).count_nonzero().item() == 100_003


@pytest.mark.parametrize("shape", [(60, 10), (10, 60), (7, 33, 19), (30, 1000)])
@pytest.mark.parametrize("step", STEPS, ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_strided_and_products(module, shape, step, dtype):
    whole = np.random.default_rng(0).integers(1, 9, shape).astype(dtype)
    x, t = whole[..., step], module.tensor(whole)[..., step]
    for dim in range(len(shape)):
        if dtype == "float32":
            np.testing.assert_allclose(t.sum(dim).numpy(), x.sum(dim), rtol=1e-6)
            np.testing.assert_allclose(t.var(dim).numpy(), x.astype(np.float64).var(dim, ddof=1), rtol=1e-5)
        else:
            np.testing.assert_array_equal(t.prod(dim).numpy(), x.astype(np.int64).prod(dim))
            np.testing.assert_array_equal(t.sum(dim).numpy(), x.astype(np.int64).sum(dim))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("n", [1, 5, 31, 32, 100, 5000])
def test_first_extreme(module, dtype, n):
    whole = np.random.default_rng(n).integers(0, 40, (3, n))
    t = module.tensor(whole).to(getattr(module, dtype))
    values, indices = t.max(1)
    np.testing.assert_array_equal(indices.numpy(), whole.argmax(1))
    np.testing.assert_array_equal(values.double().numpy(), whole.max(1))
    np.testing.assert_array_equal(t.argmin(1).numpy(), whole.argmin(1))
    if dtype.endswith("float16"):
        t[1, n // 2] = float("nan")
        assert t.argmax(1)[1] == t.argmin(1)[1] == n // 2


@pytest.mark.parametrize("lines", [1, 3, 8, 17])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64"])
def test_scans_of_lines(module, lines, dtype):
    x = np.random.default_rng(0).standard_normal((lines, 70)) * 3
    x = (x + 1j * x[:, ::-1]).astype(dtype) if dtype == "complex64" else x.astype(dtype)
    np.testing.assert_allclose(module.tensor(x).cumsum(1).numpy(), x.cumsum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(module.tensor(x[:, :20]).cumprod(1).numpy(), x[:, :20].cumprod(1), rtol=1e-4)

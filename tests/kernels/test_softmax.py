"""softmax at lengths around the vector width, and where rows hold infinities."""

import math

import numpy as np
import pytest


@pytest.mark.parametrize("n", [1, 3, 7, 8, 15, 16, 17, 31, 33, 100, 1000])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-14)])
def test_lengths(module, n, dtype, tolerance):
    x = np.random.default_rng(n).uniform(-30, 30, (5, n)).astype(dtype)
    wide = x.astype(np.longdouble)
    want = np.exp(wide - wide.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    t = module.from_numpy(x)
    np.testing.assert_allclose(t.softmax(1).numpy(), want.astype(dtype), rtol=10 * tolerance, atol=1e-30)
    np.testing.assert_allclose(
        t.log_softmax(1).numpy(), np.log(want).astype(dtype), rtol=tolerance, atol=10 * tolerance
    )
    np.testing.assert_allclose(
        module.from_numpy(x.T.copy()).softmax(0).numpy(), want.astype(dtype).T, rtol=10 * tolerance, atol=1e-30
    )


def test_infinities(module):
    inf = math.inf
    assert module.tensor([[0.0, -inf, 0.0]]).softmax(1).tolist() == [[0.5, 0.0, 0.5]]
    assert all(math.isnan(v) for v in module.tensor([-inf, -inf]).softmax(0).tolist())
    assert math.isnan(module.tensor([0.0, inf]).softmax(0).tolist()[1])


def test_integers_are_refused(module):
    with pytest.raises(RuntimeError, match="softmax"):
        module.tensor([1, 2]).softmax(0)


@pytest.mark.parametrize("shape", [(2, 9, 40), (3, 5, 8), (1, 70, 130), (4, 6, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns(module, shape, dtype):
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape).astype(dtype)
    e = np.exp(x.astype(np.float64))
    y = e / e.sum(1, keepdims=True)
    tolerance = 3e-6 if dtype == "float32" else 1e-13
    for log in (False, True):
        t = module.tensor(x, requires_grad=True)
        got = t.log_softmax(1) if log else t.softmax(1)
        np.testing.assert_allclose(got.detach().numpy(), np.log(y) if log else y, atol=tolerance)
        got.backward(module.tensor(g))
        want = g - y * g.sum(1, keepdims=True) if log else y * (g - (g * y).sum(1, keepdims=True))
        np.testing.assert_allclose(t.grad.numpy(), want, atol=4 * tolerance)


@pytest.mark.parametrize("dims", [0, 1, 2, (0, 2), (0, 1, 2)])
def test_logsumexp(module, dims):
    x = np.random.default_rng(1).uniform(-60, 60, (7, 5, 20)).astype(np.float32)
    want = np.log(np.exp(x.astype(np.longdouble)).sum(dims))
    np.testing.assert_allclose(module.tensor(x).logsumexp(dims).numpy(), want.astype(np.float32), rtol=2e-7)
    inf = math.inf
    rows = module.tensor([[0.0, inf], [-inf, -inf], [inf, math.nan]])
    assert rows.logsumexp(1)[:2].tolist() == [inf, -inf]
    assert math.isnan(rows.logsumexp(1)[2])
    assert module.zeros(2, 0).logsumexp(1).tolist() == [-inf, -inf]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_halves_along_every_dim(module, dtype, name, dim):
    x = module.tensor(np.random.default_rng(dim).standard_normal((6, 9, 40))).to(getattr(module, dtype))
    g = module.tensor(np.random.default_rng(3).standard_normal((6, 9, 40))).to(x.dtype)
    for layout in (x, x.transpose(0, 2).contiguous().transpose(0, 2)):
        half, wide = layout.clone().requires_grad_(), layout.float().requires_grad_()
        got, want = (getattr(t, name)(dim) for t in (half, wide))
        assert module.allclose(got.float(), want, atol=2e-2, rtol=1e-2)
        (by_half,), (by_wide,) = (module.autograd.grad(y, t, g.to(y.dtype)) for y, t in ((got, half), (want, wide)))
        assert by_half.dtype == x.dtype and module.allclose(by_half.float(), by_wide, atol=5e-2, rtol=2e-2)

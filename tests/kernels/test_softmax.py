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

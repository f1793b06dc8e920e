"""topk, kthvalue, median and mode against a stable sort, on lines short and long, with ties and NaN."""

import numpy as np
import pytest


def _lines(kind, n):
    rng = np.random.default_rng(n)
    if kind == "ties":
        return rng.integers(0, 5, (3, n)).astype(np.float32)
    x = rng.standard_normal((3, n)).astype(np.float32)
    if kind == "nan":
        x[:, :: max(1, n // 3)] = np.nan
    return x


@pytest.mark.parametrize("kind", ["plain", "ties", "nan"])
@pytest.mark.parametrize("n", [1, 5, 300, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_topk(module, kind, n, dtype):
    x = _lines(kind, n).astype(dtype)
    for k in sorted({1, min(n, 7), n // 2 or 1, n}):
        for largest in (True, False):
            order = np.argsort(-x if largest else x, axis=1, kind="stable")
            missing = np.isnan(np.take_along_axis(x, order, 1))
            if largest:  # NaN is the largest
                order = np.array([np.r_[o[m], o[~m]] for o, m in zip(order, missing, strict=True)])
            values, indices = module.topk(module.tensor(x), k, largest=largest)
            np.testing.assert_array_equal(indices.numpy(), order[:, :k])
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order[:, :k], 1))


@pytest.mark.parametrize("kind", ["plain", "ties", "nan"])
@pytest.mark.parametrize("n", [1, 6, 300, 5001])
def test_ranks(module, kind, n):
    x = _lines(kind, n)
    order = np.argsort(x, axis=1, kind="stable")
    for k in {1, n // 3 + 1, n}:
        values, indices = module.kthvalue(module.tensor(x), k)
        np.testing.assert_array_equal(indices.numpy(), order[:, k - 1])
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order[:, k - 1 : k], 1)[:, 0])
    present = n - np.isnan(x).sum(1)
    expected = [np.sort(row)[(n - 1) // 2] if full else np.nan for row, full in zip(x, present == n, strict=True)]
    np.testing.assert_array_equal(module.tensor(x).median(1).values.numpy(), np.float32(expected))
    lower = [np.sort(row)[max(p - 1, 0) // 2] for row, p in zip(x, present, strict=True)]
    np.testing.assert_array_equal(module.tensor(x).nanmedian(1).values.numpy(), np.float32(lower))


def test_integers(module):
    x = np.random.default_rng(0).integers(-(2**62), 2**62, 999)
    assert module.topk(module.tensor(x), 4).values.tolist() == sorted(x.tolist())[:-5:-1]
    assert module.tensor(x).kthvalue(500).values.item() == sorted(x.tolist())[499]

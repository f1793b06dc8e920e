"""Sorting by radix and by comparing, distinct elements and counts, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import vivace as torch

RNG = np.random.RandomState(0)
LIMITS = np.iinfo(np.int64)
LINES = {
    "close": RNG.randint(-50, 50, (2, 3000)),
    "one value": np.full((2, 3000), -7),
    "wide": RNG.randint(-(2**60), 2**60, (2, 3000)),
    "limits": np.concatenate([RNG.randint(-5, 5, (2, 2998)), [[LIMITS.min, LIMITS.max]] * 2], 1),
    "doubles": np.round(RNG.randn(2, 3000), 2) * np.exp(100 * RNG.randn(2, 3000).round()),
    "not numbers": np.where(RNG.rand(2, 3000) < 0.1, np.nan, RNG.randn(2, 3000).round(1)),
    "bytes": RNG.randint(0, 256, (2, 3000)).astype(np.uint8),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("length", [3000, 100, 1])
def test_sort_is_stable(name: str, length: int) -> None:
    x = LINES[name][:, -length:]
    values, places = torch.from_numpy(x.copy()).sort(1)
    np.testing.assert_array_equal(places.numpy(), np.argsort(x, 1, kind="stable"))
    np.testing.assert_array_equal(values.numpy(), np.sort(x, 1))
    values, places = torch.from_numpy(x.copy()).sort(1, descending=True)
    np.testing.assert_array_equal(values.numpy(), np.sort(x, 1)[:, ::-1])
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, places.numpy(), 1))


@pytest.mark.parametrize("name", [n for n in LINES if n != "not numbers"])
def test_unique(name: str) -> None:
    x = LINES[name]
    want = np.unique(x, return_inverse=True, return_counts=True)
    got = torch.unique(torch.from_numpy(x), return_inverse=True, return_counts=True)
    for a, b, shape in zip(got, want, (want[0].shape, x.shape, want[2].shape), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.reshape(shape))
    np.testing.assert_array_equal(torch.unique(torch.from_numpy(x)).numpy(), want[0])
    alone, counts = torch.unique(torch.from_numpy(x), return_counts=True)
    np.testing.assert_array_equal(counts.numpy(), want[2])
    assert torch.unique(torch.from_numpy(x[:0])).shape == (0,) and alone.dtype == torch.from_numpy(x).dtype


def test_counts() -> None:
    x = RNG.randint(0, 9, 1003)
    for n in (1003, 7, 0):
        np.testing.assert_array_equal(torch.bincount(torch.from_numpy(x[:n])).numpy(), np.bincount(x[:n]))
    np.testing.assert_array_equal(torch.bincount(torch.from_numpy(x), minlength=20).numpy(), np.bincount(x, None, 20))
    with pytest.raises(RuntimeError, match="non-negative integral"):
        torch.bincount(torch.tensor([1, -1]))
    y = RNG.randn(1003)
    for dtype in (torch.float64, torch.float32):
        t = torch.from_numpy(y).to(dtype)
        for low, high in ((0, 0), (-1, 1.5)):
            got = torch.histc(t, 10, low, high)
            assert got.dtype == dtype
            want, _ = np.histogram(y, 10, (low, high) if high else None)
            np.testing.assert_array_equal(got.numpy(), want)
    with pytest.raises(RuntimeError, match="is not finite"):
        torch.histc(torch.tensor([1.0, float("nan"), 2.0]))


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float16"])
@pytest.mark.parametrize("n", [0, 1, 2, 50, 1000])
def test_unique_consecutive(module, dtype, n):
    x = np.random.default_rng(n).integers(0, 2, n).astype(dtype)
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]]) if n else np.zeros(0, int)
    values, which, counts = module.unique_consecutive(module.tensor(x), return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(values.numpy(), x[starts])
    np.testing.assert_array_equal(counts.numpy(), np.diff(np.r_[starts, n]) if n else [])
    np.testing.assert_array_equal(which.numpy(), np.searchsorted(starts, np.arange(n), "right") - 1)
    if n > 2 and dtype.startswith("float"):
        assert len(module.unique_consecutive(module.tensor([1.0, float("nan"), float("nan")]))) == 3

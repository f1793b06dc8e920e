"""Quantiles, histograms, membership and other statistics against NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import vivace as torch

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantiles(interpolation: str, dim: int | None, keepdim: bool) -> None:
    x, q = RNG.randn(4, 7), [0.0, 0.13, 0.5, 1.0]
    spoilt = x.copy()
    spoilt[1, :5] = spoilt[2, 3] = np.nan
    for at in (q, 0.3):
        tensor = torch.tensor(at, dtype=torch.float64) if isinstance(at, list) else at
        options = {"method": interpolation, "keepdims": keepdim}
        for data, ours, theirs in (
            (x, torch.quantile, np.quantile),
            (spoilt, torch.quantile, np.quantile),
            (spoilt, torch.nanquantile, np.nanquantile),
        ):
            got = ours(torch.from_numpy(data), tensor, dim, keepdim, interpolation=interpolation)
            np.testing.assert_allclose(got.numpy(), theirs(data, at, axis=dim, **options), rtol=1e-12)


def test_quantiles_of_rows_without_numbers_and_their_errors() -> None:
    nan = float("nan")
    assert math.isnan(torch.nanquantile(torch.tensor([nan, nan]), 0.5).item())
    assert torch.quantile(torch.tensor(3.0), 0.5).item() == 3 and torch.quantile(torch.tensor(3.0), 0.5, 0).shape == ()
    x = torch.rand(3, 4)
    for text, call in [
        ("q must be in the range \\[0, 1\\] but got 1.5", lambda: torch.quantile(x, 1.5)),
        ("q values must be in the range", lambda: torch.quantile(x, torch.tensor([0.5, -1.0]))),
        ("must be non-empty", lambda: torch.quantile(torch.empty(0), 0.5)),
        ("either float or double", lambda: torch.quantile(x.half(), 0.5)),
        ("same dtype", lambda: torch.quantile(x, torch.tensor(0.5, dtype=torch.float64))),
        ("must be one of linear", lambda: torch.quantile(x, 0.5, interpolation="x")),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()
    assert torch.autograd.gradcheck(
        lambda t: torch.quantile(t, torch.tensor([0.2, 0.7], dtype=torch.float64), 1), (x.double().requires_grad_(),)
    )


def test_histograms() -> None:
    x, weight = RNG.randn(50), RNG.rand(50)
    tensor, weights = torch.from_numpy(x), torch.from_numpy(weight)
    for density, w in itertools.product((False, True), (None, weight)):
        options = {"density": density, "weight": None if w is None else weights}
        for bins, reach in ((7, None), (5, (-1.0, 0.5)), (np.array([-2, 0, 0.1, 3.0]), None)):
            if isinstance(bins, int):
                got = torch.histogram(tensor, bins, range=reach, **options)
            else:
                got = torch.histogram(tensor, torch.from_numpy(bins), **options)
            want = np.histogram(x, bins, reach, density=density, weights=w)
            np.testing.assert_allclose(got.hist.numpy(), want[0], rtol=1e-12)
            np.testing.assert_allclose(got.bin_edges.numpy(), want[1], rtol=1e-12)
    points = RNG.rand(40, 2)
    got = torch.histogramdd(torch.from_numpy(points), [3, 4], density=True)
    want, edges = np.histogramdd(points, [3, 4], density=True)
    np.testing.assert_allclose(got.hist.numpy(), want)
    for ours, theirs in zip(got.bin_edges, edges, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs)
    assert torch.histogram(torch.tensor([1.0, 1.0]), 2).bin_edges.tolist() == [0.5, 1.0, 1.5]
    with pytest.raises(RuntimeError, match="exceeds max"):
        torch.histogram(torch.ones(3), 2, range=(1.0, 0.0))


def test_membership() -> None:
    for dtype in (torch.int64, torch.uint8, torch.float32, torch.float16):
        x, test = torch.tensor([[1, 5, 3], [7, 1, 2]], dtype=dtype), torch.tensor([1, 2, 9], dtype=torch.int64)
        assert torch.isin(x, test).tolist() == [[True, False, False], [False, True, True]]
        assert torch.isin(x, test, invert=True).tolist() == [[False, True, True], [True, False, False]]
    nan = float("nan")
    assert torch.isin(torch.tensor([nan, 1.0]), torch.tensor([nan, 1.0])).tolist() == [False, True]
    assert torch.isin(torch.tensor([1, 2]), 2).tolist() == [False, True] and torch.isin(2, torch.tensor([2])).item()
    assert torch.isin(torch.tensor([1]), torch.empty(0)).tolist() == [False]
    with pytest.raises(RuntimeError, match="Unsupported input type"):
        torch.isin(torch.tensor([True]), torch.tensor([True]))


def test_mantissas_and_exponents() -> None:
    x = np.array([0.0, -0.0, 1.0, -0.75, 1e30, 1e-40, 5e-324, np.inf, np.nan])
    mantissa, exponent = torch.frexp(torch.from_numpy(x))
    want = np.frexp(x)
    np.testing.assert_array_equal(mantissa.numpy(), want[0])
    np.testing.assert_array_equal(exponent.numpy()[:-2], want[1][:-2])
    assert exponent.dtype == torch.int32
    assert torch.autograd.gradcheck(
        lambda t: torch.frexp(t)[0], (torch.tensor([3.0, 0.3], dtype=torch.float64).requires_grad_(),)
    )


def test_coordinates() -> None:
    for got, want in zip(
        torch.unravel_index(torch.tensor([22, 41, 37]), (7, 6)), np.unravel_index([22, 41, 37], (7, 6)), strict=True
    ):
        assert got.tolist() == want.tolist()
    x = torch.tensor([[0, 1], [2, 0]])
    assert torch.nonzero_static(x, size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert torch.nonzero_static(x, size=1).tolist() == [[0, 1]]


def test_hashes() -> None:
    x = RNG.randn(3, 4)
    bits = x.view(np.uint64)
    assert torch.hash_tensor(torch.from_numpy(x)).item() == int(np.bitwise_xor.reduce(bits, None))
    assert torch.hash_tensor(torch.from_numpy(x.T.copy()).mT, 1, keepdim=True).tolist() == [
        [int(h)] for h in np.bitwise_xor.reduce(bits, 1)
    ]
    assert torch.hash_tensor(torch.tensor([True, False])).dtype == torch.uint64


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order: int) -> None:
    x, position = RNG.randn(5, 6), np.sort(RNG.rand(6))
    tensor = torch.from_numpy(x)
    for ours, theirs in (
        (torch.gradient(tensor, edge_order=edge_order), np.gradient(x, edge_order=edge_order)),
        (torch.gradient(tensor, spacing=0.5, edge_order=edge_order), np.gradient(x, 0.5, edge_order=edge_order)),
        (
            torch.gradient(tensor, dim=1, spacing=[torch.from_numpy(position)], edge_order=edge_order),
            [np.gradient(x, position, axis=1, edge_order=edge_order)],
        ),
    ):
        for got, want in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-12)
    with pytest.raises(RuntimeError, match="appears multiple times"):
        torch.gradient(tensor, dim=(0, -2))


@pytest.mark.parametrize("how", ["prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(how: str, include_self: bool) -> None:
    x, source, index = RNG.randn(4, 3), RNG.randn(3, 3), [0, 2, 2]
    got = torch.from_numpy(x).index_reduce(
        0, torch.tensor(index), torch.from_numpy(source), how, include_self=include_self
    )
    want = x.copy()
    reduce = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[how]
    for row in set(index):
        parts = [source[k] for k in range(3) if index[k] == row] + ([x[row]] if include_self else [])
        want[row] = reduce(np.stack(parts), 0)
    np.testing.assert_allclose(got.numpy(), want)


@pytest.mark.parametrize(
    ("bins", "weight", "text"),
    [
        ([torch.ones(3, 2), torch.ones(3)], None, "should have one dimension, but got 2"),
        ([torch.ones(0), torch.ones(3)], None, "at least 1 element, but got 0"),
        ([torch.ones(2), torch.ones(1)], None, "bins must be > 0, but got 0 for dimension 1"),
        ([torch.ones(3).double(), torch.ones(4)], None, "should have the same dtype"),
        ([3, 4], torch.ones(2), "should have the same shape"),
        ([3, 4], torch.ones(3).double(), "should have the same dtype"),
    ],
)
def test_histogramdd_refuses(bins: list[object], weight: object, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        torch.histogramdd(torch.ones(3, 2), bins, weight=weight)


def test_histogram_of_too_few_weights() -> None:
    with pytest.raises(RuntimeError, match="should have the same shape"):
        torch.histogram(torch.ones(3), 3, weight=torch.ones(2))
    assert torch.histogram(torch.ones(3, 2), 3, weight=torch.ones(6)).hist.tolist() == [0.0, 6.0, 0.0]


def test_searchsorted_in_the_common_dtype() -> None:
    ints, floats = torch.tensor([1, 2, 3]), torch.tensor([1.0, 2.0, 3.0])
    assert torch.searchsorted(ints, torch.tensor([2.5])).tolist() == [2]
    assert torch.searchsorted(floats, torch.tensor(2)).item() == 1
    assert torch.searchsorted(ints, 2.5).item() == 2
    assert torch.searchsorted(ints.to(torch.uint8), 300).item() == 3
    assert torch.bucketize(1e308, floats).item() == 3
    assert torch.bucketize(torch.tensor(2.5), ints).item() == 2
    with pytest.raises(NotImplementedError, match="complex"):
        torch.bucketize(torch.tensor([1j]), floats)

"""Indexing by masks, lists and along a dim, on short slices and long ones, against NumPy."""

import numpy as np
import pytest

DTYPES = ["bool", "int16", "float32", "int64", "complex128"]


def _array(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(70,), (9, 31), (5, 6, 7)])
def test_masks(module, dtype, shape):
    x = _array(shape, dtype)
    for density in (0, 0.1, 0.7, 1):
        mask = np.random.default_rng(1).random(shape) < density
        np.testing.assert_array_equal(module.tensor(x)[module.tensor(mask)].numpy(), x[mask])
        np.testing.assert_array_equal(module.tensor(mask).nonzero().numpy(), np.argwhere(mask))
        for part in {len(shape), 1}:  # over all dims, or the first
            some = mask[(slice(None),) * part + (0,) * (len(shape) - part)]
            want, got = x.copy(), module.tensor(x)
            want[some] = 1
            got[module.tensor(some)] = 1
            np.testing.assert_array_equal(got.numpy(), want)
        source = _array(x.size, dtype, 2)
        want = x.copy()
        want[mask] = source[: mask.sum()]
        got = module.tensor(x).masked_scatter(module.tensor(mask), module.tensor(source))
        np.testing.assert_array_equal(got.numpy(), want)


def test_masked_assignment_through_views(module):
    x = np.arange(60.0).reshape(6, 10)
    t, mask = module.tensor(x), module.tensor(x.T % 3 == 0)
    t.t()[mask] = -1
    t[:, ::2][module.ones(6, 5, dtype=module.bool)] = module.tensor(7)  # a 0-dim tensor of another dtype
    x.T[x.T % 3 == 0] = -1
    x[:, ::2] = 7
    np.testing.assert_array_equal(t.numpy(), x)
    leaf = module.ones(4, requires_grad=True)
    y = leaf * 2
    y[module.tensor([True, False, True, False])] = 0
    y.sum().backward()
    assert leaf.grad.tolist() == [0, 2, 0, 2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40,), (40, 1), (13, 40), (13, 40, 3), (3, 40, 70)])
def test_along_a_dim(module, dtype, shape):
    dim = shape.index(40)
    x, index = _array(shape, dtype), np.random.default_rng(3).integers(0, 40, 55)
    got = module.tensor(x).index_select(dim, module.tensor(index))
    np.testing.assert_array_equal(got.numpy(), x.take(index, dim))
    source = _array(got.shape, dtype, 4)
    want = np.moveaxis(x.copy(), dim, 0)
    np.add.at(want, index, np.moveaxis(source, dim, 0))
    got = module.tensor(x).index_add(dim, module.tensor(index), module.tensor(source))
    np.testing.assert_array_equal(got.numpy(), np.moveaxis(want, 0, dim))
    with pytest.raises(IndexError):
        module.tensor(x).index_select(dim, module.tensor([0, 40]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 63, 64, 130])
def test_sums_of_halves(module, dtype, width):
    half = getattr(module, dtype)
    x, y = (module.tensor(_array((4, width), "float32", s)).to(half) for s in (0, 1))
    got = x.index_add(0, module.tensor([2, 0]), y[:2], alpha=0.5)
    want = x.float()
    want[2] += y[0].float() / 2
    want[0] += y[1].float() / 2
    assert module.equal(got, want.to(half))


@pytest.mark.parametrize("dtype", DTYPES)
def test_lists(module, dtype):
    x = _array((20, 30), dtype)
    rng = np.random.default_rng(5)
    i, j = rng.integers(-20, 20, (7, 9)), rng.integers(0, 30, (7, 9))
    t, ti, tj = module.tensor(x), module.tensor(i), module.tensor(j)
    np.testing.assert_array_equal(t[ti, tj].numpy(), x[i, j])
    np.testing.assert_array_equal(t.t()[tj, ti].numpy(), x[i, j])
    np.testing.assert_array_equal(t[ti[:, :1], tj[0]].numpy(), x[i[:, :1], j[0]])
    np.testing.assert_array_equal(t[:, tj].numpy(), x[:, j])
    np.testing.assert_array_equal(t.flatten()[module.tensor(j * 7)].numpy(), x.ravel()[j * 7])
    for bad in ([20], [-21]):
        with pytest.raises(IndexError, match="out of bounds"):
            t[module.tensor(bad)]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather(module, dim):
    x = _array((11, 12, 13), "float32")
    index = np.random.default_rng(6).integers(0, x.shape[dim], (9, 10, 11))
    read = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))]
    for order in ((0, 1, 2), (2, 0, 1)):
        t = module.tensor(x.transpose(order).copy()).permute([int(d) for d in np.argsort(order)])
        got = t.gather(dim, module.tensor(index))
        np.testing.assert_array_equal(got.numpy(), np.take_along_axis(read, index, dim))

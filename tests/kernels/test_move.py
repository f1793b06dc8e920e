"""Copies that change order or type, over lengths around a vector's."""

import numpy as np
import pytest

LENGTHS = [1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "float32", "int64", "complex128"])
def test_fill(module, dtype):
    for n in LENGTHS:
        room = module.zeros(n + 2, dtype=getattr(module, dtype))
        room[1:-1].fill_(1)
        assert room.tolist() == [0] + [1] * n + [0]


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_flip(module, dtype):
    for n in LENGTHS:
        x = np.arange(2 * n, dtype=dtype).reshape(2, n)
        np.testing.assert_array_equal(module.tensor(x).flip(1).numpy(), x[:, ::-1])


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_transposed_copy(module, dtype):
    for rows in LENGTHS:
        for columns in (1, 2, 3, 5, 16, 35, 100):
            x = np.arange(2 * rows * columns).astype(dtype).reshape(2, rows, columns)
            np.testing.assert_array_equal(module.tensor(x).mT.contiguous().numpy(), x.swapaxes(1, 2))


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_repeated_elements(module, dtype):
    x = np.arange(600).astype(dtype).reshape(2, 300)
    for times in (1, 2, 3, 5, 7, 8, 16, 20):
        for dim in (0, 1):
            got = module.tensor(x).repeat_interleave(times, dim)
            np.testing.assert_array_equal(got.numpy(), np.repeat(x, times, dim))


@pytest.mark.parametrize("source", ["float32", "float64", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("target", ["float32", "float64", "int32", "int64", "uint8"])
def test_conversion(module, source, target):
    for n in LENGTHS:
        x = (np.arange(n) * 7 % 50 + (0.75 if source.startswith("float") else 0)).astype(source)
        got = module.tensor(x).to(getattr(module, target))
        np.testing.assert_array_equal(got.numpy(), x.astype(target))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int32", "int64"])
def test_integers_that_cannot_hold_a_value_are_the_least(module, source, target):
    x = module.tensor([1e30, -1e30, float("inf"), float("nan"), -2.5] * 7, dtype=getattr(module, source))
    least = np.iinfo(target).min
    assert x.to(getattr(module, target)).tolist() == [least, least, least, least, -2] * 7

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


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_flip(module, dtype):
    for n in LENGTHS:
        x = np.arange(2 * n).astype(dtype).reshape(2, n)
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


SOURCES = ["float16", "float32", "float64", "int32", "int64", "int16", "uint8", "bool"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", SOURCES)
def test_conversion(module, source, target):
    for n in LENGTHS:
        x = (np.arange(n) * 7 % 50 * (np.arange(n) % 3) + (0.75 if source.startswith("float") else 0)).astype(source)
        got = module.tensor(x).to(getattr(module, target))
        np.testing.assert_array_equal(got.numpy(), x.astype(target))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int32", "int64"])
def test_integers_that_cannot_hold_a_value_are_the_least(module, source, target):
    x = module.tensor([1e30, -1e30, float("inf"), float("nan"), -2.5] * 7, dtype=getattr(module, source))
    least = np.iinfo(target).min
    assert x.to(getattr(module, target)).tolist() == [least, least, least, least, -2] * 7


def test_every_half(module):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    wide = module.tensor(x).float()
    np.testing.assert_array_equal(wide.numpy(), x.astype(np.float32))
    back = wide.half().numpy()
    np.testing.assert_array_equal(back, x)
    assert set(back.view(np.uint16)[np.isnan(x)]) == {0x7E00, 0xFE00}  # one NaN of each sign


def test_rounding_to_half(module):
    x = np.random.default_rng(0).integers(0, 1 << 32, 100_000, dtype=np.uint32).view(np.float32)
    near = (np.arange(1 << 15, dtype=np.uint16).view(np.float16).astype(np.float32)[:-1024]).repeat(2)
    between = (near[1:] + near[:-1]) / 2  # ties, and halves themselves
    for values in (x, between, -between, between * np.float32(1.0001)):
        with np.errstate(over="ignore", invalid="ignore"):
            np.testing.assert_array_equal(module.tensor(values).half().numpy(), values.astype(np.float16))


@pytest.mark.parametrize("target", ["bfloat16", "float16"])
def test_to_half_by_way_of_float(module, target):
    x = module.tensor(np.random.default_rng(0).standard_normal(3000) * 1e3)
    for y in (x, x.long(), x.to(module.int16)):
        assert module.equal(y.to(getattr(module, target)), y.float().to(getattr(module, target)))
        other = module.float16 if target == "bfloat16" else module.bfloat16
        half = y.to(other)
        assert module.equal(half.to(getattr(module, target)), half.float().to(getattr(module, target)))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9])
def test_short_runs(module, dtype, size):
    """Windows, and dims of few elements moved to the end."""
    x = np.arange(6000).astype(dtype).reshape(2, 3000)
    got = module.tensor(x).unfold(1, size, 1).contiguous()
    np.testing.assert_array_equal(got.numpy(), np.lib.stride_tricks.sliding_window_view(x, size, axis=1))
    y = np.arange(size * 2 * 1500 * 2).astype(dtype).reshape(1500, size, 2, 2)
    np.testing.assert_array_equal(module.tensor(y).permute(3, 1, 0, 2).contiguous().numpy(), y.transpose(3, 1, 0, 2))
    np.testing.assert_array_equal(module.tensor(y).permute(0, 2, 3, 1).contiguous().numpy(), y.transpose(0, 2, 3, 1))

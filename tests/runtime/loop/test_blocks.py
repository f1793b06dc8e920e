"""Operands that broadcast, in rows of every length that is treated apart, against NumPy."""

import numpy as np
import pytest

import vivace as torch

ROWS = (3, 40, 100, 255, 256, 300, 511, 700, 3000)
DTYPES = ("float32", "float64", "int64", "int32", "uint8", "complex64", "bfloat16")


def numbers(shape, dtype):
    values = torch.from_numpy(np.arange(np.prod(shape)).reshape(shape) % 13 + 1)
    return values.to(getattr(torch, dtype))


def numpy(t):
    return (t.float() if t.dtype == torch.bfloat16 else t).numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", ROWS)
def test_one_item_or_one_row_repeats(n, dtype):
    shapes = {
        (5, n): [(5, 1), (1, n), (n,), (1, 1)],
        (2, 3, 4, n): [(2, 3, 1, 1), (1, 3, 1, 1), (1, 3, 1, n), (2, 1, 4, 1), (3, 4, 1)],
    }
    for whole, others in shapes.items():
        a = numbers(whole, dtype)
        for other in others:
            b = numbers(other, dtype)
            for x, y in ((a, b), (b, a), (a, numbers(other, "int16")), (numbers(other, "bool"), a)):
                np.testing.assert_array_equal(numpy(x + y), (numpy(x) + numpy(y)).astype(numpy(a).dtype))
            np.testing.assert_array_equal(numpy(a.clone().mul_(b)), numpy(a) * numpy(b))
            np.testing.assert_array_equal(numpy(torch.addcmul(b, a, b)), numpy(b) + numpy(a) * numpy(b))


@pytest.mark.parametrize("n", ROWS)
def test_views_beside_what_repeats(n):
    a = numbers((6, 2 * n), "float64")
    column = numbers((6, 1), "float32")
    row = numbers((2 * n,), "float64")
    for view, cut in ((a[:, ::2], row[::2]), (a[:, 1 : n + 1], row[:n]), (a[::2, :n], row[n:])):
        np.testing.assert_array_equal((view * column[: len(view)]).numpy(), view.numpy() * column.numpy()[: len(view)])
        np.testing.assert_array_equal((view - cut).numpy(), view.numpy() - cut.numpy())
        into = a.clone().as_strided(view.size(), view.stride(), view.storage_offset())
        into += column[: len(view)]
        np.testing.assert_array_equal(into.numpy(), view.numpy() + column.numpy()[: len(view)])


def test_threads_begin_anywhere():
    for shape in ((700, 100), (70, 3000), (7, 11, 1000)):
        a = numbers(shape, "float32")
        column, row = numbers((*shape[:-1], 1), "float32"), numbers(shape[-1:], "int64")
        before = torch.get_num_threads()
        try:
            results = []
            for count in (1, 3):
                torch.set_num_threads(count)
                results.append([(a * column).numpy(), (a + row).numpy(), torch.lerp(a, column, 0.5).numpy()])
        finally:
            torch.set_num_threads(before)
        for one, three in zip(*results, strict=True):
            np.testing.assert_array_equal(one, three)

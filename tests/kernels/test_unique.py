"""unique_consecutive against NumPy."""

import numpy as np
import pytest

import vivace as torch


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8", "bool"])
@pytest.mark.parametrize("most", [1, 2, 200])
@pytest.mark.parametrize("n", [0, 1, 2, 50, 1000])
def test_runs(n, most, dtype):
    x = np.random.default_rng(n).integers(0, most, n).astype(dtype)
    first = np.flatnonzero(np.concatenate([np.ones(min(n, 1), bool), x[1:] != x[:-1]]))
    values, inverse, counts = torch.unique_consecutive(torch.from_numpy(x), return_inverse=True, return_counts=True)
    alone = torch.unique_consecutive(torch.from_numpy(x))
    for found in (values, alone):
        assert found.is_contiguous()
        assert found.untyped_storage().nbytes() <= 2 * found.nbytes + x.itemsize
        np.testing.assert_array_equal(found.numpy(), x[first])
    np.testing.assert_array_equal(counts.numpy(), np.diff(np.append(first, n)))
    np.testing.assert_array_equal(values[inverse].numpy(), x)


def test_counts_that_nobody_asks_for_are_empty():
    for x in (torch.tensor([3, 3, 1]), torch.tensor([3.0, 3.0, 1.0]), torch.tensor([[1, 2], [1, 2]])):
        assert torch._unique(x, True, False, False)[2].shape == (0,)
        assert torch._unique_consecutive(x, False, False)[2].shape == (0,)

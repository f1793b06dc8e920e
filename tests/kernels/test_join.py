"""cat and stack of contiguous and other tensors along every dim."""

import numpy as np
import pytest


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_cat(module, dim):
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal([5 if d != dim else n for d in range(3)]).astype(np.float32) for n in (3, 1, 0, 7)]
    tensors = [module.tensor(p) for p in parts]
    np.testing.assert_array_equal(module.cat(tensors, dim).numpy(), np.concatenate(parts, dim))
    tensors[1] = module.tensor(np.repeat(parts[1], 2, 1))[:, ::2]  # not contiguous
    np.testing.assert_array_equal(module.cat(tensors, dim).numpy(), np.concatenate(parts, dim))


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_stack(module, dim):
    parts = np.random.default_rng(1).standard_normal((3, 4, 5))
    np.testing.assert_array_equal(module.stack([module.tensor(p) for p in parts], dim).numpy(), np.stack(parts, dim))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_stack_of_single_elements(module, dtype, count):
    arrays = [(np.arange(3000) % (k + 2)).astype(dtype).reshape(60, 50) for k in range(count)]
    tensors = [module.tensor(a) for a in arrays]
    np.testing.assert_array_equal(module.stack(tensors, 2).numpy(), np.stack(arrays, 2))
    np.testing.assert_array_equal(module.cat(tensors, 1).numpy(), np.concatenate(arrays, 1))

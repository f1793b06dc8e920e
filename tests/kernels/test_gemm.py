"""Products at the sizes where another loop takes over, with every layout and dtype, against NumPy."""

import itertools

import numpy as np
import pytest


def _layouts(rng, rows, cols):
    """The same values: row-major, column-major, with gaps, reversed gaps of rows."""
    a = rng.standard_normal((rows, cols)).astype(np.float32)
    return a, {
        "rows": lambda torch: torch.from_numpy(a.copy()),
        "columns": lambda torch: torch.from_numpy(a.T.copy()).t(),
        "gaps": lambda torch: torch.from_numpy(np.repeat(np.repeat(a, 2, 0), 3, 1).copy())[::2, ::3],
    }


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 1, 1), (4, 4, 4), (3, 17, 5), (33, 1, 65), (64, 64, 64), (5, 300, 7), (70, 3, 130), (1, 90, 40), (40, 90, 1)],
)
def test_layouts(module, m, k, n):
    rng = np.random.default_rng(m * k + n)
    a, lefts = _layouts(rng, m, k)
    b, rights = _layouts(rng, k, n)
    want = a.astype(np.float64) @ b.astype(np.float64)
    for (x, left), (y, right) in itertools.product(lefts.items(), rights.items()):
        got = module.mm(left(module), right(module)).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=f"{x} @ {y}")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [3, 40])
def test_dtypes(module, dtype, size):
    rng = np.random.default_rng(size)
    a, b = (rng.integers(0, 9, (size, size)).astype(dtype) for _ in range(2))
    if dtype.startswith("complex"):
        b = b + 1j * a[::-1]
    got = module.mm(module.from_numpy(a), module.from_numpy(b.astype(dtype))).numpy()
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, a @ b.astype(dtype), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_round_once(module, dtype):
    a = module.ones(2, 600).to(getattr(module, dtype))
    assert module.mm(a, a.t()).tolist() == [[600.0, 600.0], [600.0, 600.0]]


def test_beta_zero_ignores_what_is_added(module):
    nan = module.full((2, 2), float("nan"))
    assert module.addmm(nan, module.ones(2, 3), module.ones(3, 2), beta=0).tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize(("a", "b"), [((2, 3), (2, 3)), ((2,), (3,)), ((2, 3, 4), (2, 3, 4)), ((), (2,))])
def test_errors_name_the_operator(module, a, b):
    with pytest.raises(RuntimeError, match=r"(?i)mm|dot|matmul"):
        module.matmul(module.ones(a), module.ones(b))


def test_threads_share_a_product(module):
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((300, 200)), rng.standard_normal((200, 90))
    many, tall = rng.standard_normal((40, 33, 70)), rng.standard_normal((40, 70, 50))
    before = module.get_num_threads()
    module.set_num_threads(3)
    try:
        for x, y in ((a, b), (b.T.copy(), a.T.copy()), (many, tall)):
            got = module.from_numpy(x) @ module.from_numpy(y)
            np.testing.assert_allclose(got.numpy(), x @ y, rtol=0, atol=1e-11)
        bias = rng.standard_normal(90)
        got = module.nn.functional.linear(*map(module.from_numpy, (a, b.T.copy(), bias)))
        np.testing.assert_allclose(got.numpy(), a @ b + bias, rtol=0, atol=1e-11)
    finally:
        module.set_num_threads(before)

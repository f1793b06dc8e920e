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


SHAPES = [(4, 2, 4), (5, 7, 3), (8, 16, 48), (9, 31, 49), (130, 33, 100), (16, 64, 17), (200, 5, 4)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_halves(module, dtype, m, k, n):
    half = getattr(module, dtype)
    rng = np.random.default_rng(m * k + n)
    (a, lefts), (b, rights) = _layouts(rng, m, k), _layouts(rng, k, n)
    a, b = (module.from_numpy(x).to(half).double() for x in (a, b))
    added = module.from_numpy(rng.standard_normal((m, n))).to(half)
    epsilon = module.finfo(half).eps
    bound = epsilon * (1 + (a.abs() @ b.abs()).numpy())
    for left, right in itertools.product(lefts.values(), rights.values()):
        x, y = left(module).to(half), right(module).to(half)
        assert (np.abs((x @ y).double().numpy() - (a @ b).numpy()) < bound).all()
        got = module.addmm(added, x, y, beta=0.5, alpha=2).double().numpy()
        assert (np.abs(got - (2 * (a @ b) + added.double() / 2).numpy()) < 3 * bound).all()
        got = module.nn.functional.linear(x, y.t(), added[0]).double().numpy()
        assert (np.abs(got - (a @ b + added[0].double()).numpy()) < 3 * bound).all()


def test_halves_that_are_not_finite(module):
    inf, nan = float("inf"), float("nan")
    a = module.ones(6, 8).bfloat16()
    a[0, 0], a[1, 1], a[2, 2], a[2, 3] = inf, nan, inf, -inf
    got = (a @ module.ones(8, 50).bfloat16())[:, 49].tolist()
    assert got[0] == inf and all(x != x for x in got[1:3]) and got[3:] == [8.0] * 3
    assert (module.full((4, 4), 3e38).bfloat16() @ module.full((4, 4), 3e38).bfloat16()).tolist() == [[inf] * 4] * 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [1, 3, 600, 2001])
def test_dot_of_halves(module, dtype, n):
    x = module.from_numpy(np.random.default_rng(n).standard_normal(2 * n)).to(getattr(module, dtype))
    want = (x[:n].double() * x[::2].double()).sum().item()
    assert abs(x[:n].dot(x[::2]).item() - want) < 0.01 * (1 + n**0.5)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize(("m", "k", "n"), [*SHAPES, (1, 300, 70), (70, 300, 1)])
def test_integers(module, dtype, m, k, n):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(m * k + n)
    a, b, c = (rng.integers(info.min, info.max, s, dtype, endpoint=True) for s in ((m, k), (k, n), (m, n)))
    with np.errstate(over="ignore"):
        want, scaled = a @ b, (a @ b) * np.array(3, dtype) + c * np.array(2, dtype)
    lefts = [module.tensor(a), module.tensor(a.T.copy()).t(), module.tensor(a.repeat(2, 1))[:, ::2]]
    rights = [module.tensor(b), module.tensor(b.T.copy()).t(), module.tensor(b.repeat(2, 1))[:, ::2]]
    for x, y in itertools.product(lefts, rights):
        np.testing.assert_array_equal((x @ y).numpy(), want)
        np.testing.assert_array_equal(module.addmm(module.tensor(c), x, y, beta=2, alpha=3).numpy(), scaled)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 70, 600])
def test_one_column(module, dtype, n):
    """A vector and a bias, for both orders of the matrix."""
    rng = np.random.default_rng(n)
    a, x, bias = (rng.standard_normal(s).astype(dtype) for s in ((n, 90), (90, 1), 1))
    for left in (module.tensor(a), module.tensor(a.T.copy()).t()):
        np.testing.assert_allclose((left @ module.tensor(x)).numpy(), a @ x, rtol=1e-4, atol=1e-4)
        got = module.nn.functional.linear(left, module.tensor(x.T.copy()), module.tensor(bias))
        np.testing.assert_allclose(got.numpy(), a @ x + bias, rtol=1e-4, atol=1e-4)

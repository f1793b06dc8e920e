"""The driver of pointwise loops: every length, layout and dtype goes through it."""

from __future__ import annotations

import numpy as np
import pytest

from catalogue.kinds import Pointwise
from tests import support

LENGTHS = [*range(1, 70), 127, 128, 129, 1000, 3000]


def _unary_and_binary() -> list[Pointwise]:
    """Entries that a call with tensors alone is enough for."""
    found = []
    for entry in support.entries():
        if isinstance(entry, Pointwise) and not entry.masks and not entry.choices:
            schema = entry.schemas[0]
            if all(not a.required for a in schema.inputs if a.name not in entry.operands):
                found.append(entry)
    return found


def _function(module, entry: Pointwise):
    owner = module
    for part in entry.namespace.split(".") if entry.namespace != "torch" else []:
        owner = getattr(owner, part)
    return getattr(owner, entry.name)


@pytest.mark.parametrize("entry", _unary_and_binary(), ids=lambda e: e.id)
def test_every_length_gives_the_same_elements(module, entry: Pointwise) -> None:
    dtype = next((d for d in ("Float32", "Int64") if d in entry.dtypes), None)
    if dtype is None:
        pytest.skip("neither float32 nor int64")
    draw = np.random.RandomState(1)
    longest = max(LENGTHS)
    operands = []
    for _ in entry.operands:
        values = draw.uniform(-2, 2, longest).astype(np.float32) if dtype == "Float32" else draw.randint(1, 9, longest)
        operands.append(module.from_numpy(values))
    call = _function(module, entry)
    whole = call(*operands).numpy()
    for n in LENGTHS:
        part = call(*(x[:n] for x in operands)).numpy()
        np.testing.assert_array_equal(part, whole[:n], err_msg=f"{n} elements")


def test_every_layout(module) -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    t = module.from_numpy(x)
    layouts = [
        (t, x),
        (t.permute(3, 1, 0, 2), x.transpose(3, 1, 0, 2)),
        (t[:, ::2], x[:, ::2]),
        (t[..., 1:4], x[..., 1:4]),
        (t[0, 0, 0, 0], x[0, 0, 0, 0]),
        (t[:, :1].expand(2, 3, 4, 5), np.broadcast_to(x[:, :1], x.shape)),
    ]
    for a, expected in layouts:
        np.testing.assert_array_equal((a + a).numpy(), expected + expected)
        np.testing.assert_array_equal((a * 2.5).numpy(), expected * np.float32(2.5))
        np.testing.assert_array_equal((a + 1).numpy(), expected + 1)


@pytest.mark.parametrize(
    "shapes", [((3, 1), (1, 5)), ((5,), (3, 5)), ((2, 1, 4), (3, 1)), ((), (4,)), ((0, 3), (3,)), ((700, 1), (1, 300))]
)
def test_broadcasting(module, shapes) -> None:
    a, b = (np.random.RandomState(0).normal(size=s).astype(np.float32) for s in shapes)
    result = module.from_numpy(np.asarray(a)) - module.from_numpy(np.asarray(b))
    np.testing.assert_array_equal(result.numpy(), a - b)


def test_result_strides_follow_the_operands(module) -> None:
    t = module.zeros(2, 3, 4, 5)
    last = t.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    assert (last + last).stride() == last.stride()
    assert (last + 1).stride() == last.stride()
    assert (last + module.zeros(3, 1, 1)).stride() == last.stride()
    assert t.transpose(0, 3).exp().stride() == t.transpose(0, 3).stride()
    assert (t.transpose(0, 3) > 0).stride() == t.transpose(0, 3).stride()
    assert t[:, ::2].exp().stride() == (40, 20, 5, 1)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("int32", "float32", "float32"),
        ("int64", "float16", "float16"),
        ("uint8", "int8", "int16"),
        ("bool", "uint8", "uint8"),
        ("bfloat16", "float16", "float32"),
        ("float32", "complex128", "complex128"),
        ("float64", "complex64", "complex128"),
    ],
)
def test_promotion(module, a: str, b: str, expected: str) -> None:
    x, y = (module.ones(3, dtype=getattr(module, name)) for name in (a, b))
    assert (x * y).dtype == getattr(module, expected)
    assert (y + x).tolist() == [2, 2, 2]


def test_promotion_of_ranks(module) -> None:
    ints, floats = module.ones(3, dtype=module.int32), module.ones(3)
    assert (floats * module.tensor(2, dtype=module.float64)).dtype == module.float32
    assert (ints * module.tensor(2, dtype=module.int64)).dtype == module.int32
    assert (ints * module.tensor(2.0, dtype=module.float64)).dtype == module.float64
    assert (ints * 2).dtype == module.int32
    assert (ints * 2.5).dtype == module.float32
    assert (floats * 2j).dtype == module.complex64
    assert (ints / ints).dtype == module.float32
    assert module.exp(ints).dtype == module.float32
    assert (ints > 0.5).tolist() == [True, True, True]


def test_in_place_checks(module) -> None:
    x = module.zeros(3)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(module.zeros(2, 3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        module.zeros(3, dtype=module.int64).mul_(1.5)
    with pytest.raises(RuntimeError, match="single memory location"):
        module.zeros(1).expand(3).add_(1)
    y = module.zeros(4)
    with pytest.raises(RuntimeError, match="single memory location"):
        y[1:].add_(y[:-1])
    with pytest.raises(RuntimeError, match="must match"):
        module.zeros(3) + module.zeros(4)


def test_in_place_of_a_transposed_view_of_itself(module) -> None:
    x = module.arange(9.0).view(3, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        x.add_(x.t())


def test_out(module) -> None:
    a, out = module.arange(4.0), module.empty(0)
    assert module.add(a, 1, out=out) is out
    assert out.tolist() == [1, 2, 3, 4]
    wide = module.empty(4, dtype=module.float64)
    module.exp(a, out=wide)
    np.testing.assert_allclose(wide.numpy(), np.exp(np.arange(4.0)), rtol=1e-6)
    with pytest.raises(RuntimeError, match="can't be cast"):
        module.exp(a, out=module.empty(4, dtype=module.int64))


def test_integers_have_defined_results(module) -> None:
    least = module.tensor([-(2**63)])
    assert (least // -1).tolist() == [-(2**63)]
    assert (least % -1).tolist() == [0]
    assert abs(least).tolist() == [-(2**63)]
    assert (least * 2 - 1).tolist() == [-1]
    one = module.tensor([1], dtype=module.int32)
    assert (one << 32).tolist() == [0]
    assert (one << -1).tolist() == [0]
    assert (-one >> 40).tolist() == [-1]
    small = module.tensor([100, -100], dtype=module.int8)
    assert (small + small).tolist() == [-56, 56]
    assert (module.tensor([-7, 7]) // 2).tolist() == [-4, 3]
    assert (module.tensor([-7, 7]) % 3).tolist() == [2, 1]
    assert (module.tensor([2, -1, 3]) ** 63).tolist() == [
        -(2**63),
        -1,
        3**63 - 2**64 * (3**63 // 2**64) - (2**64 if 3**63 // 2**63 % 2 else 0),
    ]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        module.tensor([1]) // module.tensor([0])
    with pytest.raises(RuntimeError, match="negative integer powers"):
        module.tensor([2]) ** -1


def test_nan_and_signed_zero(module) -> None:
    nan = float("nan")
    a, b = module.tensor([nan, 1.0, 0.0, -0.0]), module.tensor([1.0, nan, -0.0, 0.0])
    assert np.isnan(module.maximum(a, b).numpy()[:2]).all()
    assert np.isnan(module.minimum(a, b).numpy()[:2]).all()
    assert module.fmax(a, b).tolist()[:2] == [1, 1]
    assert (a == a).tolist() == [False, True, True, True]
    assert str((module.tensor([-0.0]) * 1).tolist()) == "[-0.0]"
    assert module.sign(a).tolist() == [0, 1, 0, 0]


def test_threads_give_the_same_result(module) -> None:
    x = module.rand(300_000)
    before = module.get_num_threads()
    try:
        module.set_num_threads(1)
        one = x.exp() + x.t()
        module.set_num_threads(3)
        three = x.exp() + x.t()
    finally:
        module.set_num_threads(before)
    assert module.equal(one, three)

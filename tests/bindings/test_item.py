"""From tensors to Python numbers and lists."""

from __future__ import annotations

from typing import Any

import pytest


def test_item(module: Any) -> None:
    assert module.tensor([[3.5]]).item() == 3.5
    assert module.tensor(True).item() is True
    assert module.tensor(2**63, dtype=module.uint64).item() == 2**63
    assert module.tensor(1 + 2j).item() == 1 + 2j
    assert module.tensor(1.1, dtype=module.float16).item() == 1.099609375
    assert module.tensor(1.1, dtype=module.bfloat16).item() == 1.1015625
    for data in ([], [1, 2]):
        with pytest.raises(RuntimeError, match=f"a Tensor with {len(data)} elements cannot be converted to Scalar"):
            module.tensor(data).item()


def test_tolist(module: Any) -> None:
    assert module.tensor([[1, 2], [3, 4]]).t().tolist() == [[1, 3], [2, 4]]
    assert module.tensor(2.5).tolist() == 2.5
    assert module.tensor([[], []]).tolist() == [[], []]


def test_conversions(module: Any) -> None:
    assert int(module.tensor([3.7])) == 3
    assert float(module.tensor(3)) == 3.0
    assert float(module.tensor(2 + 0j)) == 2.0
    assert complex(module.tensor(2.0)) == 2 + 0j
    assert f"{module.tensor(3):d} {module.tensor(2.5):.2f}" == "3 2.50"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{module.tensor([2.5]):.2f}"
    for convert in (int, float, complex):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            convert(module.tensor([1.0, 2.0]))
    for convert in (int, float):
        with pytest.raises(RuntimeError, match="without overflow"):
            convert(module.tensor(1j))
    with pytest.raises(OverflowError):
        int(module.tensor(float("inf")))


def test_index(module: Any) -> None:
    assert [1, 2, 3][module.tensor(1)] == 2
    assert list(range(module.tensor([2]))) == [0, 1]
    for data in (1.0, [1, 2]):
        with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
            [1, 2, 3][module.tensor(data)]


def test_bool(module: Any) -> None:
    assert module.tensor([[1.0]])
    assert not module.tensor(0)
    assert module.tensor(1j)
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        bool(module.tensor([]))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(module.tensor([1, 2]))


def test_sequence(module: Any) -> None:
    t = module.tensor([[1, 2], [3, 4], [5, 6]])
    assert len(t) == 3
    assert [row.tolist() for row in t] == [[1, 2], [3, 4], [5, 6]]
    _, second, _ = t
    assert second.tolist() == [3, 4]
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(module.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(module.tensor(1))


def test_iteration_is_differentiable(module: Any) -> None:
    x = module.tensor([1.0, 2.0], requires_grad=True)
    first, second = x
    (first * 3 + second * second).backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_contains(module: Any) -> None:
    t = module.tensor([1.0, 2.0])
    assert 2 in t
    assert 3 not in t
    assert module.tensor(1.0) in t
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in t  # noqa: B015


def test_meta_has_no_values(module: Any) -> None:
    t = module.tensor([1.0], device="meta")
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        t.item()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        t.tolist()

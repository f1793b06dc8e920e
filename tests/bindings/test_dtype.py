"""Element types: the objects, their aliases, promotion and the default."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SIZES = [1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16]
ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
# PyTorch's table: row and column in the order of NAMES, "." where there is no promotion.
PROMOTION = """
0 1 2 3 . 5 . 7 . 9 10 11 12 13 14
1 1 3 3 . 5 . 7 . 9 10 11 12 13 14
2 3 2 3 . 5 . 7 . 9 10 11 12 13 14
3 3 3 3 . 5 . 7 . 9 10 11 12 13 14
. . . . 4 . . . . 9 10 11 12 . .
5 5 5 5 . 5 . 7 . 9 10 11 12 13 14
. . . . . . 6 . . 9 10 11 12 . .
7 7 7 7 . 7 . 7 . 9 10 11 12 13 14
. . . . . . . . 8 9 10 11 12 . .
9 9 9 9 9 9 9 9 9 9 11 11 12 13 14
10 10 10 10 10 10 10 10 10 11 10 11 12 13 14
11 11 11 11 11 11 11 11 11 11 11 11 12 13 14
12 12 12 12 12 12 12 12 12 12 12 12 12 14 14
13 13 13 13 . 13 . 13 . 13 13 13 14 13 14
14 14 14 14 . 14 . 14 . 14 14 14 14 14 14
"""


def test_names_and_sizes(module: Any) -> None:
    for name, size in zip(NAMES, SIZES, strict=True):
        dtype = getattr(module, name)
        assert repr(dtype) == f"torch.{name}"
        assert dtype.itemsize == size
        assert dtype.is_complex == name.startswith("complex")
        assert dtype.is_floating_point == ("float" in name)
        assert dtype.is_signed == (name != "bool" and not name.startswith("uint"))
    for alias, name in ALIASES.items():
        assert getattr(module, alias) is getattr(module, name)


def test_pickles_by_name(module: Any) -> None:
    for name in NAMES:
        assert pickle.loads(pickle.dumps(getattr(module, name))) is getattr(module, name)


def test_counterparts(module: Any) -> None:
    assert module.float32.to_complex() is module.complex64
    assert module.float64.to_complex() is module.complex128
    assert module.complex128.to_real() is module.float64
    with pytest.raises(RuntimeError):
        module.int8.to_complex()


def test_promotion(module: Any) -> None:
    for row, line in zip(NAMES, PROMOTION.strip().split("\n"), strict=True):
        for column, cell in zip(NAMES, line.split(), strict=True):
            pair = getattr(module, row), getattr(module, column)
            if cell == ".":
                with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64"):
                    module.promote_types(*pair)
            else:
                assert module.promote_types(*pair) is getattr(module, NAMES[int(cell)])


def test_result_type_ranks_operands(module: Any) -> None:
    row = module.tensor([1], dtype=module.int8)
    single = module.tensor(1.5, dtype=module.float64)
    assert module.result_type(row, 2) is module.int8
    assert module.result_type(row, 2.0) is module.float32
    assert module.result_type(row, 2j) is module.complex64
    assert module.result_type(row, single) is module.float64
    assert module.result_type(module.tensor([1.0]), single) is module.float32
    assert module.result_type(module.tensor(1), row) is module.int8
    assert module.result_type(module.tensor([True]), 3) is module.int64
    assert module.result_type(1, 2) is module.int64


def test_can_cast(module: Any) -> None:
    assert module.can_cast(module.int64, module.int8)
    assert module.can_cast(module.float64, module.float16)
    assert module.can_cast(module.bool, module.int8)
    assert not module.can_cast(module.float32, module.int64)
    assert not module.can_cast(module.complex64, module.float64)
    assert not module.can_cast(module.int8, module.bool)


def test_default_dtype(module: Any) -> None:
    assert module.get_default_dtype() is module.float32
    try:
        module.set_default_dtype(module.float64)
        assert module.tensor([1.0]).dtype is module.float64
        assert module.tensor(1j).dtype is module.complex128
    finally:
        module.set_default_dtype(module.float32)
    for bad in (module.int8, 3):
        with pytest.raises(TypeError, match="only floating-point types"):
            module.set_default_dtype(bad)


def test_questions_about_tensors(module: Any) -> None:
    t = module.tensor([[1.0, 2.0]])
    assert module.is_tensor(t)
    assert not module.is_tensor([1.0])
    assert module.is_floating_point(t)
    assert not module.is_complex(t)
    assert module.numel(t) == 2
    assert module.is_nonzero(module.tensor([3]))
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        module.numel([1.0])

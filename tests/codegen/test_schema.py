"""Signatures in PyTorch's notation: what they parse to, that they print as they were, and errors with a column."""

from __future__ import annotations

import pytest

from codegen.model import Symbol
from codegen.schema import SchemaError, parse

LINES = [
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "relu_(Tensor(a!) self) -> Tensor(a!)",
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "split(Tensor(a) self, int[2]? sizes=[1, 2], int dim=-1) -> Tensor(a)[]",
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    "empty(int[] size, *, MemoryFormat? memory_format=contiguous_format) -> Tensor",
    "step(Tensor(a!)[] self, float lr=0.001, float? clip=None) -> ()",
    "item(Tensor self) -> Scalar",
]


@pytest.mark.parametrize("line", LINES)
def test_prints_as_written(line: str) -> None:
    assert str(parse(line)) == line


def test_parts() -> None:
    schema = parse("conv(Tensor input, int[2] stride=1, *, Tensor? bias=None, bool on=True, float p=1e-5) -> Tensor")
    assert (schema.name, schema.overload, schema.cpp_name) == ("conv", "", "conv")
    stride, bias, on, p = schema.arguments[1:]
    assert stride.type.list_size == 2
    assert stride.default == 1
    assert not stride.keyword_only
    assert bias.keyword_only
    assert bias.type.optional
    assert bias.default is None
    assert on.default is True
    assert p.default == 1e-5
    assert schema.arguments[0].required


def test_out_arguments_are_told_apart() -> None:
    schema = parse("add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
    assert [a.name for a in schema.outputs] == ["out"]
    assert [a.name for a in schema.inputs] == ["self", "other"]


def test_names_as_defaults() -> None:
    assert parse("f(Tensor self, int reduction=Mean) -> Tensor").arguments[1].default == Symbol("Mean")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f(Tensr self) -> Tensor", "unknown type 'Tensr'"),
        ("f(Tensor self) -> ", "unknown type ''"),
        ("f(Tensor self", "expected ','"),
        ("f(Tensor self) -> Tensor x y", "unexpected text"),
        ("f(Tensor a, Tensor a) -> Tensor", "'a' appears twice"),
        ("f(Tensor self, int x=) -> Tensor", "expected a default"),
        ("f(Tensor & self) -> Tensor", "unexpected character"),
    ],
)
def test_errors_name_the_column(line: str, message: str) -> None:
    with pytest.raises(SchemaError, match="at column") as error:
        parse(line)
    assert message in str(error.value)

"""The frozen model of an operator's signature, and errors that point at the catalogue line they come from.

A Schema is what a line in PyTorch's notation says, lossless: `str(parse(text)) == text` up to spaces.
Where the entries themselves are declared is catalogue/kinds.py.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Where:
    """A line of a catalogue file, and the entry that it declares."""

    file: Path
    line: int
    name: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def path(self) -> str:
        return str(self.file.relative_to(ROOT) if self.file.is_relative_to(ROOT) else self.file)

    @property
    def mark(self) -> str:
        """What generated C++ says: with a line in it, an edit would change all that comes from the lines below."""
        return f"{self.path}: {self.name}"


class CatalogueError(Exception):
    """A mistake in an entry; the text begins with its file and line, as compilers write it."""

    def __init__(self, where: Where, text: str) -> None:
        super().__init__(f"{where}: error: {text}")
        self.where = where


def caller(depth: int = 2) -> Where:
    """Where the code stands that called the caller; for helpers of a catalogue file, where it called them."""
    frame = found = sys._getframe(depth)
    while (
        frame.f_code.co_name != "<module>"
        and frame.f_back
        and frame.f_back.f_code.co_filename == found.f_code.co_filename
    ):
        frame = frame.f_back
    found = frame if frame.f_code.co_name == "<module>" else found
    return Where(Path(found.f_code.co_filename).resolve(), found.f_lineno)


@dataclass(frozen=True)
class Type:
    """`Tensor(a!)?`, `int[2]`, `ScalarType?`."""

    base: str
    is_list: bool = False
    list_size: int | None = None
    optional: bool = False  # of the whole: `int[]?`
    element_optional: bool = False  # `Tensor?[]`
    alias: str = ""
    mutated: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor" and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        return self.base == "Tensor" and self.is_list

    def __str__(self) -> str:
        text = self.base
        if self.alias:
            text += f"({self.alias}{'!' if self.mutated else ''})"
        if self.element_optional:
            text += "?"
        if self.is_list:
            text += f"[{'' if self.list_size is None else self.list_size}]"
        return text + ("?" if self.optional else "")


@dataclass(frozen=True)
class Required:
    """Marks an argument without default."""


REQUIRED = Required()


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: Any = REQUIRED
    keyword_only: bool = False
    is_output: bool = False

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def keyword(self) -> str:
        """The name a caller writes: `input` for the first tensor of a function."""
        return "input" if self.name == "self" else self.name

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.required else f"={format_default(self.default)}")


@dataclass(frozen=True)
class Return:
    type: Type
    name: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.name}".rstrip()


@dataclass(frozen=True)
class Schema:
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    dots: bool = field(default=False, compare=False)

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def cpp_name(self) -> str:
        """`add_Tensor`, `exp`, `relu_`: the name of wrappers and kernels."""
        return f"{self.name}_{self.overload}" if self.overload else self.name

    @property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if not a.is_output)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.is_output)

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def __str__(self) -> str:
        parts: list[str] = []
        keyword = False
        for a in self.arguments:
            if a.keyword_only and not keyword:
                parts.append("*")
                keyword = True
            parts.append(str(a))
        returns = ", ".join(str(r) for r in self.returns)
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.full_name}({', '.join(parts)}) -> {returns}"

    def functional(self) -> Schema:
        """The signature without outputs, for naming the op that an in-place or out= op belongs to."""
        return replace(self, arguments=self.inputs)


def format_default(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        return "[" + ", ".join(format_default(v) for v in value) + "]"
    if isinstance(value, Symbol):
        return value.name
    return str(value)


@dataclass(frozen=True)
class Symbol:
    """A default that is a name, as in `memory_format=contiguous_format` or `reduction=Mean`."""

    name: str

"""Parses signatures in PyTorch's notation: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

Errors are SchemaError with the column; kinds.py turns them into errors at the entry's line.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from codegen.model import REQUIRED, Argument, Return, Schema, Symbol, Type

BASES = (
    "Tensor",
    "Scalar",
    "int",
    "float",
    "bool",
    "str",
    "ScalarType",
    "Device",
    "Layout",
    "MemoryFormat",
    "Generator",
    "Object",
)

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow>->)|(?P<number>[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\.\d+|\d+|inf\b))|(?P<string>'[^']*'|\"[^\"]*\")"
    r"|(?P<name>[A-Za-z_]\w*(?:\.\w+)?)|(?P<punct>[()\[\],?=*!|]))"
)


class SchemaError(ValueError):
    def __init__(self, text: str, column: int, message: str) -> None:
        super().__init__(f"{message} at column {column + 1} of schema `{text}`")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise SchemaError(text, position, "unexpected character")
            kind = match.lastgroup or ""
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(text)))
        self.next = 0

    def peek(self) -> str:
        return self.tokens[self.next][1]

    def kind(self) -> str:
        return self.tokens[self.next][0]

    def fail(self, message: str) -> SchemaError:
        return SchemaError(self.text, self.tokens[self.next][2], message)

    def take(self, expected: str | None = None) -> str:
        kind, token, _ = self.tokens[self.next]
        if kind == "end" or (expected is not None and token != expected):
            raise self.fail(f"expected {expected!r}" if expected else "unexpected end")
        self.next += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token and self.kind() != "string":
            self.next += 1
            return True
        return False

    def name(self, what: str) -> str:
        if self.kind() != "name":
            raise self.fail(f"expected {what}")
        return self.take()

    def schema(self) -> Schema:
        full = self.name("the operator's name")
        name, _, overload = full.partition(".")
        self.take("(")
        arguments: list[Argument] = []
        keyword_only = False
        while not self.accept(")"):
            if arguments or keyword_only:
                self.take(",")
            if self.accept("*"):
                keyword_only = True
                continue
            arguments.append(self.argument(keyword_only))
        self.take("->")
        returns = self.returns()
        if self.kind() != "end":
            raise self.fail("unexpected text after the return type")
        seen: set[str] = set()
        for a in arguments:
            if a.name in seen:
                raise SchemaError(self.text, self.text.find(a.name), f"argument {a.name!r} appears twice")
            seen.add(a.name)
        return Schema(name, overload, tuple(arguments), returns)

    def argument(self, keyword_only: bool) -> Argument:
        type_ = self.type()
        name = self.name("the argument's name")
        default: Any = REQUIRED
        if self.accept("="):
            default = self.value(type_)
        is_output = keyword_only and type_.mutated
        return Argument(name, type_, default, keyword_only, is_output)

    def type(self) -> Type:
        if self.peek() not in BASES:
            base = self.peek()
            raise self.fail(f"unknown type {base!r} (known: {', '.join(BASES)})")
        base = self.take()
        alias, mutated = "", False
        if self.accept("("):
            alias = self.name("an alias set")
            while self.accept("|"):
                alias += "|" + self.name("an alias set")
            mutated = self.accept("!")
            self.take(")")
        optional = self.accept("?")
        if self.accept("["):
            size = None
            if self.kind() == "number":
                size = int(self.take())
            self.take("]")
            return Type(base, True, size, self.accept("?"), optional, alias, mutated)
        return Type(base, False, None, optional, False, alias, mutated)

    def value(self, type_: Type) -> Any:
        kind, token, _ = self.tokens[self.next]
        if self.accept("["):
            items: list[Any] = []
            while not self.accept("]"):
                if items:
                    self.take(",")
                items.append(self.value(type_))
            return tuple(items)
        self.take()
        if kind == "number":
            return float(token) if re.search(r"[.e]|inf", token) else int(token)
        if kind == "string":
            return ast.literal_eval(token)
        if kind == "name":
            words: dict[str, Any] = {"None": None, "True": True, "False": False, "inf": float("inf")}
            return words[token] if token in words else Symbol(token)
        self.next -= 1
        raise self.fail("expected a default value")

    def returns(self) -> tuple[Return, ...]:
        if not self.accept("("):
            return (Return(self.type()),)
        returns: list[Return] = []
        while not self.accept(")"):
            if returns:
                self.take(",")
            type_ = self.type()
            returns.append(Return(type_, self.take() if self.kind() == "name" else ""))
        return tuple(returns)


def parse(text: str) -> Schema:
    """Raises SchemaError."""
    return _Parser(text).schema()

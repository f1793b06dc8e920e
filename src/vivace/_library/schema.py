"""Signatures in PyTorch's notation, `mylib::scale.out(Tensor x, float by=2.0, *, Tensor(a!) out) -> Tensor(a!)`, read
when a program defines an operator or asks for one's `_schema`.
"""

import ast
import re
from dataclasses import dataclass
from typing import Any

from vivace import _C

_SAME = {"SymInt": "int", "SymFloat": "float", "SymBool": "bool", "Dimname": "str"}
_BASES = frozenset(
    [
        "Tensor",
        "Scalar",
        "int",
        "float",
        "bool",
        "str",
        "ScalarType",
        "Layout",
        "Device",
        "MemoryFormat",
        "Generator",
        "SymInt",
        "object",
        "Object",
        "Any",
    ]
)
_TYPE = re.compile(
    r"(?P<base>[A-Za-z_]\w*)(?:\((?P<alias>[^)]*)\))?(?P<inner>\?)?(?P<list>\[(?P<size>\d*)\])?(?P<outer>\?)?"
)
_ARGUMENT = re.compile(_TYPE.pattern + r"\s+(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<default>.+))?$", re.DOTALL)
_RETURN = re.compile(_TYPE.pattern + r"(?:\s+(?P<name>[A-Za-z_]\w*))?$")
_WORDS = {"None": None, "True": True, "False": False}


@dataclass(frozen=True)
class AliasInfo:
    """What an argument shares: names of alias sets, and whether the operator writes."""

    before_set: frozenset
    is_write: bool


@dataclass(frozen=True)
class Argument:
    """One argument, or one result, which has only a type and perhaps a name."""

    name: str
    type: str
    default_value: Any = None
    kwarg_only: bool = False
    alias_info: AliasInfo | None = None
    has_default: bool = False
    text: str = ""

    def has_default_value(self):
        return self.has_default

    @property
    def is_out(self):
        return self.kwarg_only and self.is_write

    @property
    def is_write(self):
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_tensor(self):
        return self.type.startswith("Tensor")

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class FunctionSchema:
    """A whole signature; `name` has the namespace."""

    name: str
    overload_name: str
    arguments: tuple
    returns: tuple

    @property
    def is_mutable(self):
        return any(a.is_write for a in self.arguments)

    @property
    def is_functional(self):
        """Writes nothing, and its results share nothing with its arguments."""
        return not self.is_mutable and not any(r.alias_info for r in self.returns)

    def __str__(self):
        name = f"{self.name}.{self.overload_name}" if self.overload_name else self.name
        texts = [str(a) for a in self.arguments]
        first = next((i for i, a in enumerate(self.arguments) if a.kwarg_only), None)
        if first is not None:
            texts.insert(first, "*")
        returned = ", ".join(str(r) for r in self.returns)
        return f"{name}({', '.join(texts)}) -> {returned if len(self.returns) == 1 else f'({returned})'}"


def _split(text):
    """The parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _default(text, type_):
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    if type_.startswith("ScalarType") or type_.startswith("MemoryFormat") or type_.startswith("Layout"):
        found = getattr(__import__("vivace"), text, None)
        if found is not None:
            return found
    if text in ("inf", "-inf", "nan"):
        return float(text)
    if text in ("Mean", "Sum"):  # reductions of losses, which are numbers in signatures
        return {"Mean": 1, "Sum": 2}[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise RuntimeError(f"can't read the default {text!r} of type {type_}") from None


def _default_text(value, size):
    """A default as PyTorch writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_default_text(v, 0) for v in value)}]"
    if isinstance(value, bool) or value is None:
        return str(value)
    if size and isinstance(value, int):
        return _default_text([value] * size, 0)
    if isinstance(value, float):
        return f"{value:.0f}." if value.is_integer() and abs(value) < 1e15 else f"{value:.17g}"
    return f'"{value}"' if isinstance(value, str) else str(value).removeprefix("torch.")


def _text(match, type_, value, has_default):
    alias = f"({match['alias']})" if match["alias"] is not None else ""
    size = int(match["size"]) if match["size"] else 0
    written = type_.replace("[]", f"[{size}]") if size else type_
    written = match["base"] + alias + written.removeprefix(match["base"])
    named = f"{written} {match['name']}" if match["name"] else written
    return f"{named}={_default_text(value, size)}" if has_default else named


def _parts(pattern, text, schema):
    match = pattern.match(text)
    if match is None or match["base"] not in _BASES:
        raise RuntimeError(f"can't read {text!r} in the schema {schema!r}")
    alias = match["alias"]
    info = None
    if alias is not None:
        sets = alias.split("->")[0].replace("!", "").split("|")
        info = AliasInfo(frozenset(s.strip() for s in sets), "!" in alias)
    type_ = match["base"] + (match["inner"] or "") + ("[]" if match["list"] else "") + (match["outer"] or "")
    return match, type_, info


def parse(text):
    """A FunctionSchema; RuntimeError says what can't be read."""
    head, arrow, tail = text.rpartition("->")
    name, paren, rest = head.partition("(")
    rest = rest.rstrip()
    if not arrow or not paren or not rest.endswith(")"):
        raise RuntimeError(f"a schema reads NAME(ARGUMENTS) -> RESULTS, not {text!r}")
    full, _, overload = name.strip().partition(".")
    arguments, keyword_only = [], False
    for part in _split(rest[:-1]):
        if part == "*":
            keyword_only = True
            continue
        match, type_, info = _parts(_ARGUMENT, part, text)
        default = match["default"]
        value = None if default is None else _default(default, type_)
        written = _text(match, type_, value, default is not None)
        arguments.append(Argument(match["name"], type_, value, keyword_only, info, default is not None, written))
    tail = tail.strip()
    inner = tail[1:-1] if tail.startswith("(") else tail
    returns = []
    for part in _split(inner):
        match, type_, info = _parts(_RETURN, part, text)
        returns.append(Argument(match["name"] or "", type_, alias_info=info, text=_text(match, type_, None, False)))
    return FunctionSchema(full, overload, tuple(arguments), tuple(returns))


def native_arguments(schema):
    """The arguments as `_C._define_operator` takes them."""
    specs = []
    for a in schema.arguments:
        type_ = a.type
        optional = type_.endswith("?")
        if optional:
            type_ = type_[:-1]
        for symbolic, plain in _SAME.items():
            type_ = type_.replace(symbolic, plain)
        if type_ in ("Object", "Any", "str[]", "int?[]", "float?[]", "bool?[]"):
            type_ = "object"
        size = re.search(r"\[(\d+)\]", a.text)
        default = (a.default_value,) if a.has_default else ()
        specs.append((a.name, type_, optional, a.kwarg_only, int(size[1]) if size else 0, a.is_write, default))
    return tuple(specs)


def of_operator(qualname):
    """The schema of an operator that exists."""
    text = _C._operator_schema(qualname)
    return parse(text if "::" in text.partition("(")[0] else f"{qualname.partition('::')[0]}::{text}")

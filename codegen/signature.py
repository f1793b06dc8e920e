"""How a signature reads in Python: for docstrings, pages and stubs."""

from __future__ import annotations

from codegen.model import Argument, Return, Schema, Symbol, Type
from codegen.plan import Packet, Signature

_BASES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "ScalarType": "dtype",
    "Device": "device | str",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
    "Object": "Any",
}


_SHADOWED = frozenset({"int", "float", "bool", "str", "dtype", "device", "layout"})
"""Names of types that are names of methods too: stubs write `_int`."""


def _stub_name(base: str) -> str:
    return " | ".join("_" + word if word in _SHADOWED else word for word in _BASES[base].split(" | "))


def annotation(t: Type) -> str:
    """A type as a stub writes it."""
    base = _stub_name(t.base)
    if t.is_list:
        element = f"{base} | None" if t.element_optional else base
        base = f"Sequence[{element}]"
        if t.list_size is not None:
            base = f"{element} | {base}"
    return f"{base} | None" if t.optional else base


def default(a: Argument) -> str:
    """A default as Python writes it."""
    value = a.default
    if isinstance(value, Symbol):
        return "..." if a.type.base in ("MemoryFormat", "ScalarType") else repr(value.name)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)


def result(returns: tuple[Return, ...], typed: bool = False) -> str:
    """The type of a result; `typed`: as a stub writes it."""

    def one(r: Return) -> str:
        base = _stub_name(r.type.base) if typed else _BASES[r.type.base]
        return f"tuple[{base}, ...]" if r.type.is_list else base

    if not returns:
        return "None"
    if len(returns) == 1:
        return one(returns[0])
    return f"tuple[{', '.join(one(r) for r in returns)}]"


def parameters(signature: Signature, form: str, typed: bool) -> list[str]:
    """The parameter list; `form`: "function" or "method"."""
    schema: Schema = signature.op.schema
    parts: list[str] = []
    arguments = schema.arguments
    if form != "function":
        parts.append("self")
        arguments = arguments[1:]
    keyword = False
    for i, a in enumerate(arguments):
        if signature.varargs and not a.keyword_only:
            parts.append(f"*{a.name}" + (": _int | Sequence[_int]" if typed else ""))
            keyword = True
            continue
        if a.keyword_only and not keyword:
            parts.append("*")
            keyword = True
        name = a.keyword if form == "function" and i == 0 else a.name
        text = f"{name}: {annotation(a.type)}" if typed else name
        if not a.required:
            text += f" = {default(a)}" if typed else f"={default(a)}"
        parts.append(text)
    if signature.out is not None:
        if not keyword:
            parts.append("*")
        n = len(signature.out.schema.outputs)
        kind = "Tensor" if n == 1 else f"tuple[{', '.join(['Tensor'] * n)}]"
        parts.append(f"out: {kind} | None = None" if typed else "out=None")
    return parts


def lines(packet: Packet) -> list[str]:
    """One readable line per overload, for docstrings and errors."""
    texts = []
    for s in packet.signatures:
        shown = [p for p in parameters(s, packet.form, typed=False) if p != "self"]
        texts.append(f"{packet.name}({', '.join(shown)}) -> {result(s.op.schema.returns)}")
    return list(dict.fromkeys(texts))


def docstring(packet: Packet) -> str:
    docs = list(dict.fromkeys(s.op.entry.doc.strip() for s in packet.signatures if s.op.entry.doc))
    if packet.name.endswith("_") and packet.signatures[0].op.functional is not None:
        docs = [f"In-place version of {packet.name[:-1]}.", *docs]
    return "\n".join(lines(packet)) + ("\n\n" + "\n\n".join(docs) if docs else "")

"""Type stubs of the extension module and of the namespaces that operators live in."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from codegen.emit.bindings import BINARY, COMPARISONS, UNARY
from codegen.plan import Packet, Plan, Signature
from codegen.render import render
from codegen.signature import parameters, result

_TYPES = ("Tensor", "Size", "Generator", "device", "dtype", "layout", "memory_format")
_DUNDERS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "truediv", "floor_divide": "floordiv",
    "remainder": "mod", "power": "pow", "matrix_multiply": "matmul", "and": "and", "or": "or", "xor": "xor",
    "lshift": "lshift", "rshift": "rshift", "negative": "neg", "positive": "pos", "invert": "invert", "absolute": "abs",
}  # fmt: skip
_COMPARISONS = dict(zip(COMPARISONS, ("lt", "le", "eq", "ne", "gt", "ge"), strict=True))


def emit(plan: Plan) -> dict[str, str]:
    methods = [line for p in plan.packets if p.namespace == "Tensor" for line in stub_lines(p, "    ")]
    spaces: dict[str, list[Packet]] = {}
    for packet in plan.packets:
        if packet.namespace not in ("Tensor", "private"):
            spaces.setdefault(packet.namespace, []).append(packet)
    functions = spaces.pop("torch", [])
    names = [*_TYPES, *(p.name for p in functions if not p.name.startswith("_"))]
    files = {
        "_C.pyi": render("_C.pyi.in", methods=[*_operators(plan), *methods], functions=_functions(functions)),
        "__init__.pyi": render("package.pyi.in", names=[f"    {name} as {name}," for name in names]),
    }
    for space, packets in spaces.items():
        files[f"{space.replace('.', '/')}.pyi"] = render("namespace.pyi.in", functions=_functions(packets))
    return {f"stubs/{name}": text for name, text in files.items()}


def _functions(packets: Iterable[Packet]) -> list[str]:
    return [line for packet in packets for line in stub_lines(packet, "")]


def stub_lines(packet: Packet, indent: str) -> list[str]:
    """A function, method or property with all its overloads."""
    if packet.form == "property":
        returns = result(packet.signatures[0].op.schema.returns, typed=True)
        lines = [f"{indent}@property", f"{indent}def {packet.name}(self) -> {returns}: ..."]
        if "assignable" in packet.entry.variants:
            lines += [
                f"{indent}@{packet.name}.setter",
                f"{indent}def {packet.name}(self, value: Tensor | Number) -> None: ...",
            ]
        return lines
    lines = list(dict.fromkeys(_definition(packet, s) for s in packet.signatures))
    decorated: list[str] = []
    for line in lines:
        if len(lines) > 1:
            decorated.append(f"{indent}@overload")
        decorated.append(indent + line)
    return decorated


def _definition(packet: Packet, signature: Signature) -> str:
    shown = [_legal(p) for p in parameters(signature, packet.form, typed=True)]
    returns = result(signature.op.schema.returns, typed=True)
    return f"def {packet.name}({', '.join(shown)}) -> {returns}: ..."


def _legal(parameter: str) -> str:
    """Names that are Python keywords (`from`) get an underscore; they cannot be written by name anyway."""
    name, colon, rest = parameter.partition(":")
    return name + "_" + colon + rest if keyword.iskeyword(name) else parameter


def _operators(plan: Plan) -> list[str]:
    """The dunder methods of the operators that entries name."""
    lines: dict[str, None] = {}
    for entry in plan.entries:
        symbol = entry.operator
        if not symbol:
            continue
        required = [a for a in entry.schemas[0].arguments if a.required]
        if symbol in _COMPARISONS:
            ignored = "  # type: ignore[override]" if symbol in ("==", "!=") else ""
            lines[f"    def __{_COMPARISONS[symbol]}__(self, other: Any) -> Tensor: ...{ignored}"] = None
        elif len(required) == 1:
            lines[f"    def __{_DUNDERS[UNARY[symbol]]}__(self) -> Tensor: ..."] = None
        else:
            name = _DUNDERS[BINARY[symbol]]
            for prefix in ("", "r", *(["i"] if entry.inplace else [])):
                lines[f"    def __{prefix}{name}__(self, other: Any) -> Tensor: ..."] = None
    return list(lines)

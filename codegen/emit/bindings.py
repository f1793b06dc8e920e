"""Packets with the functions that Python calls (bindings/*.cpp), and the tables that the Tensor type is made of."""

from __future__ import annotations

from dataclasses import dataclass

from catalogue.kinds import Entry
from codegen import cpp
from codegen.model import CatalogueError
from codegen.plan import OpPlan, Packet, Plan, Signature
from codegen.render import render
from codegen.signature import docstring

CALL = "Object* const* args, Py_ssize_t nargs, Object* kwnames"
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
BINARY = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "true_divide",
    "//": "floor_divide",
    "%": "remainder",
    "**": "power",
    "@": "matrix_multiply",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
UNARY = {"-": "negative", "+": "positive", "~": "invert", "abs": "absolute"}


def emit(plan: Plan) -> dict[str, str]:
    files = {}
    for name, entries in plan.files().items():
        packets = [p for p in plan.packets if any(p.entry is e for e in entries)]
        if packets:
            files[f"bindings/{name}.cpp"] = _file(entries, packets)
    files["bindings_tables.cpp"] = _tables(plan)
    return files


# ---- packets


def _file(entries: list[Entry], packets: list[Packet]) -> str:
    ops: dict[str, None] = {}
    for packet in packets:
        for s in packet.signatures:
            ops |= dict.fromkeys([s.op.symbol, *([s.out.symbol] if s.out else [])])
    lines = ["namespace op {", *[f"extern Op {symbol};" for symbol in ops], "}  // namespace op"]
    named = [text for entry in entries if (text := _named_result(entry))]
    foreign = {
        _named_symbol(s.op.entry)
        for p in packets
        for s in p.signatures
        if field_names(s.op.entry) and not any(s.op.entry is e for e in entries)
    }
    externs = [f"extern const NamedResult {symbol};" for symbol in sorted(foreign)]
    return render(
        "bindings.cpp.in",
        source=entries[0].where.path,
        declarations=lines,
        packets=[*externs, *named, *[_packet(p) for p in packets]],
    )


def field_names(entry: Entry) -> tuple[str, ...]:
    """The fields of a named-tuple result; empty: a plain result."""
    returns = entry.schemas[0].returns
    if entry.names:
        return entry.names
    return tuple(r.name for r in returns) if len(returns) > 1 and all(r.name for r in returns) else ()


def _named_symbol(entry: Entry) -> str:
    return f"named_{entry.schemas[0].cpp_name}"


def _named_result(entry: Entry) -> str:
    fields = field_names(entry)
    if not fields:
        return ""
    symbol = _named_symbol(entry)
    type_name = f"torch.return_types.{entry.return_type or entry.name}"
    names = ", ".join(cpp.string(f) for f in fields)
    return (
        f"constexpr const char* fields_of_{symbol}[] = {{{names}}};\n"
        f"extern const NamedResult {symbol};\n"
        f"const NamedResult {symbol} = {{{cpp.string(type_name)}, fields_of_{symbol}, {len(fields)}, nullptr}};"
    )


def _packet(packet: Packet) -> str:
    symbol = packet.symbol
    doc = docstring(packet).split("\n")
    literal = "\n".join("    " + cpp.string(line + ("\n" if i + 1 < len(doc) else "")) for i, line in enumerate(doc))
    lines = [
        f"\n// {packet.qualname}, from {packet.entry.where.mark}",
        f"static constexpr Overload overloads_{symbol}[] = {{",
        *[f"    {_overload(s)}," for s in packet.signatures],
        "};",
        f"extern const char doc_{symbol}[] =\n{literal};",
        f"extern const Packet packet_{symbol} = {{{cpp.string(packet.name)}, {cpp.string(packet.qualname)}, "
        f"overloads_{symbol}, {len(packet.signatures)}, doc_{symbol}}};",
    ]
    if packet.form == "property":
        lines.append(f"Object* {symbol}(Object* self, void*) {{ return call_property(packet_{symbol}, self); }}")
        if "assignable" in packet.entry.variants:
            lines.append(f"int set_{symbol}(Object* self, Object* value, void*) {{")
            lines.append(f"  return assign_property(packet_{symbol}, self, value);\n}}")
    elif packet.form == "method":
        lines.append(f"Object* {symbol}(Object* self, {CALL}) {{")
        lines.append(f"  return call_method(packet_{symbol}, self, args, nargs, kwnames);\n}}")
    else:
        lines.append(f"Object* {symbol}(Object*, {CALL}) {{")
        lines.append(f"  return call_function(packet_{symbol}, args, nargs, kwnames);\n}}")
    return "\n".join(lines)


def _overload(s: Signature) -> str:
    out = f"&op::{s.out.symbol}" if s.out else "nullptr"
    named = f"&{_named_symbol(s.op.entry)}" if field_names(s.op.entry) else "nullptr"
    return f"{{&op::{s.op.symbol}, {out}, {named}, {str(s.varargs).lower()}}}"


# ---- operators


@dataclass
class _Operator:
    """What stands behind one Python operator, collected over the entries that name its symbol."""

    name: str
    commutative: bool
    ops: dict[str, OpPlan]  # "TT", "TS", "ST"

    def text(self, symbol: str, inplace: bool) -> str:
        def pointer(form: str) -> str:
            return f"&op::{self.ops[form].symbol}" if form in self.ops else "nullptr"

        swap = str(self.commutative and "ST" not in self.ops and not inplace).lower()
        method = f"&packet_method_{self.name}{'_' if inplace else ''}"
        forms = ", ".join(pointer(f) for f in ("TT", "TS", "ST"))
        return f"{{{cpp.string(symbol + ('=' if inplace else ''))}, {forms}, {swap}, {method}}}"


def _form(op: OpPlan) -> str:
    """ "TT", "TS", "ST": what the first two arguments are."""
    letters = {"Tensor": "T", "Scalar": "S"}
    return "".join(letters.get(a.type.base, "?") for a in op.schema.arguments[:2])


def _operators(plan: Plan, op_class: str) -> dict[str, _Operator]:
    """By symbol: the binary operators of a class of ops."""
    found: dict[str, _Operator] = {}
    for op in plan.ops:
        entry, form = op.entry, _form(op)
        if not entry.operator or op.op_class != op_class or form not in ("TT", "TS", "ST"):
            continue
        if entry.operator not in BINARY and entry.operator not in COMPARISONS:
            raise CatalogueError(entry.where, f"Python has no binary operator {entry.operator!r}")
        operator = found.setdefault(entry.operator, _Operator(entry.name, entry.commutative, {}))
        operator.ops.setdefault(form, op)
    return found


def _slots(plan: Plan) -> tuple[list[str], list[str], list[str], list[OpPlan]]:
    """Slot functions, slots, comparisons, and the ops they name."""
    functions: list[str] = []
    slots: list[str] = []
    used: list[OpPlan] = []
    binary = _operators(plan, "Plain")
    for inplace, operators in ((False, binary), (True, _operators(plan, "InPlace"))):
        prefix = "inplace_" if inplace else ""
        for symbol, operator in operators.items():
            if symbol in COMPARISONS:
                continue
            used += operator.ops.values()
            slot = prefix + BINARY[symbol]
            modulus = ", Object*" if symbol == "**" else ""
            functions.append(f"constexpr Operator operator_{slot} = {operator.text(symbol, inplace)};")
            functions.append(
                f"Object* slot_{slot}(Object* a, Object* b{modulus}) {{ return call_operator(operator_{slot}, a, b); }}"
            )
            slots.append(f"    {{Py_nb_{slot}, reinterpret_cast<void*>(slot_{slot})}},")
    for entry in plan.entries:
        unary = entry.operator and len([a for a in entry.schemas[0].arguments if a.required]) == 1
        if unary:
            if entry.operator not in UNARY:
                raise CatalogueError(entry.where, f"Python has no unary operator {entry.operator!r}")
            slot = UNARY[entry.operator]
            packet = f"packet_method_{entry.name}"
            call = "call_invert" if entry.operator == "~" else "call_unary_operator"
            functions.append(f"Object* slot_{slot}(Object* a) {{ return {call}({packet}, a); }}")
            slots.append(f"    {{Py_nb_{slot}, reinterpret_cast<void*>(slot_{slot})}},")
    comparisons = []
    for symbol in COMPARISONS:
        comparison = binary.get(symbol)
        if comparison is None:
            comparisons.append(f"    {{{cpp.string(symbol)}, nullptr, nullptr, nullptr, false, nullptr}},")
        else:
            used += comparison.ops.values()
            comparisons.append(f"    {comparison.text(symbol, False)},")
    return functions, slots, comparisons, used


# ---- tables


def _tables(plan: Plan) -> str:
    functions, slots, comparisons, used = _slots(plan)
    declarations: list[str] = []
    methods: list[str] = []
    properties: list[str] = []
    spaces: dict[str, list[str]] = {}
    for packet in plan.packets:
        symbol, name = packet.symbol, cpp.string(packet.name)
        declarations.append(f"extern const Packet packet_{symbol};")
        declarations.append(f"extern const char doc_{symbol}[];")
        if packet.form == "property":
            declarations.append(f"Object* {symbol}(Object*, void*);")
            setter = "nullptr"
            if "assignable" in packet.entry.variants:
                setter = f"set_{symbol}"
                declarations.append(f"int {setter}(Object*, Object*, void*);")
            properties.append(f"    {{{name}, {symbol}, {setter}, doc_{symbol}, nullptr}},")
            continue
        declarations.append(f"Object* {symbol}(Object*, {CALL});")
        row = f"    {{{name}, entry({symbol}), kFlags, doc_{symbol}}},"
        (methods if packet.form == "method" else spaces.setdefault(packet.namespace, [])).append(row)
    arrays, tables = [], []
    for space, rows in spaces.items():
        array = f"functions_of_{space.replace('.', '_')}"
        arrays.append(
            "\n".join([f"static PyMethodDef {array}[] = {{", *rows, "    {nullptr, nullptr, 0, nullptr}};\n"])
        )
        tables.append(f"    {{{cpp.string(space)}, {array}}},")
    named = [_named_symbol(e) for e in plan.entries if field_names(e)]
    declarations += [f"extern const NamedResult {symbol};" for symbol in named]
    return render(
        "bindings_tables.cpp.in",
        ops=[f"extern Op {symbol};" for symbol in dict.fromkeys(op.symbol for op in used)],
        declarations=declarations,
        operators=functions,
        methods=methods,
        properties=properties,
        slots=slots,
        comparisons=comparisons,
        namespaces=arrays,
        tables=tables or ["    {nullptr, nullptr},"],
        num_tables=str(len(tables)),
        named=[f"    &{symbol}," for symbol in named],
        num_named=str(len(named)),
    )

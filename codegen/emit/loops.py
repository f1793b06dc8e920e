"""Writes traced bodies as C++ loops over vectors, and groups them into files by what they are compiled for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from codegen import expr as ex
from codegen import primitives as p
from codegen.expr import Expr
from codegen.model import Where
from codegen.pointwise_plan import Loop
from codegen.render import render

ELEMENT = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t", "u64": "uint64_t"} | {
    "m8": "uint8_t", "c32": "float", "c64": "double",
}  # fmt: skip
INFIX = {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip
LOOPS_PER_FILE = 24
ITEM_SIZE = 3
"""Bodies of two operands and up to this many operations get copies whose first or second operand is one element."""
ITEM_TYPES = ("f32", "f64", "i32", "i64")
PER_LANE = frozenset({"in_double", "scalar", "rare", "idiv", "irem"})


def emit(loops: Iterable[Loop]) -> dict[str, str]:
    groups: dict[tuple[str, str], list[Loop]] = {}
    for loop in loops:
        groups.setdefault((_module(loop.where), _sets(loop)), []).append(loop)
    files: dict[str, str] = {}
    parts: list[tuple[str, str, list[Loop]]] = []
    size = 1
    for (module, sets), group in groups.items():
        size += len(group)
        for i in range(0, len(group), LOOPS_PER_FILE):
            part = f"{module}_{sets}_{i // LOOPS_PER_FILE}"
            chunk = group[i : i + LOOPS_PER_FILE]
            suffix = {"all": ".isa.cpp", "complex": ".isa2.cpp", "base": ".cpp"}[sets]
            files[f"loops/{part}{suffix}"] = _file(part, sets, chunk)
            parts.append((part, sets, chunk))
    files["loop_table.cpp"] = _table(parts, size)
    return files


def _module(where: Where) -> str:
    return where.file.stem


def _sets(loop: Loop) -> str:
    """Which instruction sets it is compiled for: complex loops not for AVX-512, from which they gain nothing."""
    ops = {n.op for n in ex.nodes(loop.body)}
    if "scalar" in ops or loop.type == "u64":
        return "base"
    return "complex" if loop.type in p.COMPLEX else "all"


def _takes_items(loop: Loop) -> bool:
    operations = [n for n in ex.nodes(loop.body) if n.op not in ("param", "const")]
    if loop.type not in ITEM_TYPES or loop.masked or len(operations) > ITEM_SIZE:
        return False
    used = {n.args[0] for n in ex.nodes(loop.body) if n.op == "param"}
    return loop.operands == 2 and {"x0", "x1"} <= used and all(n.op not in PER_LANE for n in operations)


def _file(part: str, sets: str, loops: list[Loop]) -> str:
    item_loops = [loop for loop in loops if _takes_items(loop)]
    names = [f"{{{loop.name}_item0, {loop.name}_item1}}" for loop in item_loops]
    tables = [f"extern const Loop {part}[];", f"const Loop {part}[] = {{{', '.join(loop.name for loop in loops)}}};"]
    if item_loops:
        tables += [f"extern const Loop {part}_items[][2];", f"const Loop {part}_items[][2] = {{{', '.join(names)}}};"]
    return render(
        "loops.cpp.in",
        source=f"catalogue/pointwise/{part.rsplit('_', 2)[0]}.py",
        defines="#define VIVACE_ISA baseline\n" if sets == "base" else "",
        loops=[write_loop(loop) for loop in loops]
        + [write_loop(loop, item) for loop in item_loops for item in range(loop.operands)],
        tables=tables,
    )


def _table(parts: list[tuple[str, str, list[Loop]]], size: int) -> str:
    declared = {"all": ("baseline", "avx2", "avx512"), "complex": ("baseline", "avx2"), "base": ("baseline",)}
    pick = {"all": "VIVACE_PICK", "complex": "VIVACE_PICK2", "base": "VIVACE_PICK1"}
    declarations = []
    for isa in ("baseline", "avx2", "avx512"):
        names = [f"extern const Loop {part}[];" for part, sets, _ in parts if isa in declared[sets]]
        names += [
            f"extern const Loop {part}_items[][2];"
            for part, sets, chunk in parts
            if isa in declared[sets] and any(_takes_items(loop) for loop in chunk)
        ]
        block = [f"namespace {isa} {{", *names, f"}}  // namespace {isa}"]
        declarations += block if isa == "baseline" else ["#ifdef __x86_64__", *block, "#endif"]
    fill = []
    for part, sets, chunk in parts:
        fill.append(f"  static const uint16_t {part}_at[] = {{{', '.join(str(loop.index) for loop in chunk)}}};")
        fill.append(f"  put({pick[sets]}({part}), {part}_at, {len(chunk)});")
        if at := [str(loop.index) for loop in chunk if _takes_items(loop)]:
            fill.append(f"  static const uint16_t {part}_items_at[] = {{{', '.join(at)}}};")
            fill.append(f"  put({pick[sets]}({part}_items), {part}_items_at, {len(at)});")
    return render("loop_table.cpp.in", declarations=declarations, size=str(size), fill=fill)


# ---- one loop


def write_loop(loop: Loop, item: int | None = None) -> str:
    """`item`: the operand that is one element."""
    name = loop.name if item is None else f"{loop.name}_item{item}"
    type, body, operands, masked = loop.type, loop.body, loop.operands, loop.masked
    part = p.COMPLEX.get(type, type)
    element = ELEMENT[part]
    out_type = body.type or ""
    out_element = "uint8_t" if out_type in p.MASKS else ELEMENT[p.COMPLEX.get(out_type, out_type)]
    order = ex.nodes(body)
    used = {n.args[0] for n in order if n.op == "param"}
    reads = any(u.startswith("q") for u in used)
    lines = [
        f"// {loop.where.mark}",
        f"void {name}(char* const* p, int64_t n, const Scalar*{' q' if reads else ''}) {{",
    ]
    lines.append(f"  auto* out = reinterpret_cast<{out_element}*>(p[0]);")
    for i in range(operands):
        if not used & {f"x{i}", f"x{i}_re", f"x{i}_im"}:
            continue
        if i == item:
            lines.append(f"  {element} item;\n  __builtin_memcpy(&item, p[{i + 1}], sizeof item);")
            lines.append(f"  const {type} x{i} = splat<{element}>(item);")
            continue
        source = "uint8_t" if i in masked or type == "m8" else element
        lines.append(f"  const auto* in{i} = reinterpret_cast<const {source}*>(p[{i + 1}]);")
    names = _Names()
    attributes = [n for n in order if n.op == "param" and n.args[0].startswith("q")]
    lines += [f"  const {n.type} {n.args[0]} = {_param(n)};" for n in attributes]
    lines.append(f"  for (int64_t i = 0; i < n; i += lanes<{element}>) {{")
    lines.append("    const int64_t left = n - i;")
    for i in range(operands):
        if i == item:
            continue
        if f"x{i}" in used:
            lines.append(f"    const {_vector(i, type, masked)} x{i} = {_load(i, type, masked, part)};")
        elif used & {f"x{i}_re", f"x{i}_im"}:
            lines.append(f"    {part} x{i}_re, x{i}_im;\n    load_pairs(in{i} + 2 * i, left, x{i}_re, x{i}_im);")
    lines += [f"    {line}" for line in _statements(order, names)]
    lines.append(f"    {_store(body, names)}")
    lines.append("  }\n}\n")
    return "\n".join(lines)


class _Names:
    def __init__(self) -> None:
        self._of: dict[Expr, str] = {}
        self.count = 0

    def set(self, node: Expr, name: str) -> None:
        self._of[node] = name

    def __getitem__(self, node: Expr) -> str:
        return node.args[0] if node.op == "param" else self._of[node]


def _param(leaf: Expr) -> str:
    name, type = leaf.args[0], leaf.type or ""
    slot = name.removesuffix("_re").removesuffix("_im")[1:]
    member = "imag_part()" if name.endswith("_im") else "to_double()" if type in p.FLOATING else "to_int()"
    if type in p.MASKS:
        return f"m8(splat<uint8_t>(q[{slot}].to_int() != 0 ? 255 : 0))"
    return f"splat<{ELEMENT[type]}>({ELEMENT[type]}(q[{slot}].{member}))"


def _vector(i: int, type: str, masked: tuple[int, ...]) -> str:
    return p.mask_of(p.COMPLEX.get(type, type)) if i in masked else type


def _load(i: int, type: str, masked: tuple[int, ...], part: str) -> str:
    if i in masked or type == "m8":
        return f"load_mask{p.bits(part)}(in{i} + i, left)"
    return f"load(in{i} + i, left)"


def _store(body: Expr, names: _Names) -> str:
    if body.op == "complex":
        return f"store_pairs(out + 2 * i, {names[body.args[0]]}, {names[body.args[1]]}, left);"
    if body.type in p.MASKS:
        return f"store_mask(out + i, {names[body]}, left);"
    return f"store(out + i, {names[body]}, left);"


def constant(node: Expr) -> str:
    value, type = node.args[0], node.type or ""
    if type in p.MASKS:
        return f"~{type}{{}}" if value else f"{type}{{}}"
    if type in p.FLOATING:
        suffix = "f" if type == "f32" else ""
        if math.isnan(value):
            text = f'__builtin_nan{suffix}("")'
        elif math.isinf(value):
            text = f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
        else:
            text = f"{value.hex()}{suffix}"
        return f"splat<{ELEMENT[type]}>({text})"
    if type == "i64" and value == -(2**63):
        return "splat<int64_t>(INT64_MIN)"
    return f"splat<{ELEMENT[type]}>({ELEMENT[type]}({value}))"


def _inner(body: Expr) -> str:
    """A function of f64 vectors, shared by the halves of f32 ones."""
    order = ex.nodes(body)
    count = len({n.args[0] for n in order if n.op == "param"})
    names = _Names()
    lines = [f"[]({', '.join(f'f64 w{i}' for i in range(count))}) __attribute__((noinline)) {{"]
    lines += [f"      {line}" for line in _statements(order, names)]
    return "\n".join(lines) + f"\n      return {names[body]};\n    }}"


def _statements(order: list[Expr], names: _Names) -> list[str]:
    """One C++ variable per operation."""
    lines = []
    for node in order:
        if node.op in ("param", "complex"):
            continue
        if node.op == "const":
            names.set(node, constant(node))
            continue
        text = _operation(node, names)
        names.set(node, fresh := f"t{names.count}")
        names.count += 1
        lines.append(f"const {node.type} {fresh} = {text};")
    return lines


def _operation(node: Expr, names: _Names) -> str:
    options = dict(node.kwargs)
    args = [names[a] for a in node.args]
    if node.op in INFIX:
        return f"{args[0]} {INFIX[node.op]} {args[1]}"
    if node.op == "bitwise_not":
        return f"~{args[0]}"
    if node.op == "bitcast":
        return f"bitcast<{options['to']}>({args[0]})"
    if node.op in ("shift_left", "shift_right"):
        return f"{node.op}<{options['count']}>({args[0]})"
    function = f"[](auto... x) {{ return scalar::{options['function']}(x...); }}" if "function" in options else ""
    if node.op == "in_double":
        return f"in_double({_inner(options['body'])}, {', '.join(args)})"
    if node.op == "scalar":
        return f"each({function}, {', '.join(args)})"
    if node.op == "rare":
        return f"rare({args[0]}, {args[1]}, {function}, {', '.join(args[2:])})"
    if node.op in ("idiv", "irem"):
        args.append("left")  # the lanes beyond hold zeros
    return f"{node.op}({', '.join(args)})"

"""Tables of pointwise operators and fused derivatives (pointwise/*.cpp): what each dtype computes, by which loop."""

from __future__ import annotations

from catalogue.dtypes import ALL
from codegen.cpp import string as quote
from codegen.plan import file_name
from codegen.pointwise_plan import PRESENT, UNSUPPORTED, Chooser, KernelPlan, Row, Table
from codegen.render import render, wrap


def emit(plan: KernelPlan) -> dict[str, str]:
    groups: dict[str, list[Table]] = {}
    for table in plan.tables.values():
        groups.setdefault(file_name(table.where), []).append(table)
    loops = {loop.index: loop.name for loop in plan.loops}
    return {f"pointwise/{name}.cpp": _file(tables, loops) for name, tables in groups.items()}


def _file(tables: list[Table], loops: dict[int, str]) -> str:
    rows: dict[str, str] = {}
    infos = []
    for t in tables:
        body = "\n".join(_row(row, dtype, loops) for row, dtype in zip(t.rows, ALL, strict=True))
        name = rows.setdefault(body, f"rows_{t.symbol}")
        infos.append(f"\n// {t.where.mark}\n" + wrap(f"const PointwiseInfo {t.symbol} = {{", _fields(t, name), "};"))
    return render(
        "pointwise.cpp.in",
        source=tables[0].where.path,
        rows=[f"const PointwiseRow {name}[kNumDTypes] = {{\n{body}\n}};" for body, name in rows.items()],
        declarations=[f"extern const PointwiseInfo {t.symbol};" for t in tables],
        choosers=[_chooser(t.symbol, t.chooser) for t in tables if t.chooser],
        infos=infos,
    )


def _row(row: Row, dtype: str, loops: dict[int, str]) -> str:
    def code(name: str) -> str:
        return name if name.startswith("k") else f"of({name})"

    if row.compute == UNSUPPORTED:
        return f"    {{{UNSUPPORTED}}},  // {dtype}"
    loop = f": {loops[row.loop]}" if row.loop else ""
    no_casts = "true" if row.compute == dtype and row.native == row.result else "false"
    dtypes = f"{code(row.compute)}, {code(row.native)}, {code(row.result)}"
    return f"    {{{dtypes}, {no_casts}, {row.loop}}},  // {dtype}{loop}"


def _fields(table: Table, rows: str) -> list[str]:
    fields = [
        f".name = {quote(table.name)}",
        f".noperands = {len(table.operands)}",
        f".nparams = {len(table.params)}",
        f".operands = {{{', '.join(map(str, table.operands))}}}" if table.operands else "",
        f".params = {{{', '.join(map(str, table.params))}}}" if table.params else "",
        f".followers = {table.followers:#b}" if table.followers else "",
        f".masks = {table.masks:#b}" if table.masks else "",
        f".rows = {rows}",
        f".choose = choose_{table.symbol}" if table.chooser else "",
        f".check = checks::{table.check}" if table.check else "",
        ".row_major = true" if table.row_major else "",
    ]
    return [field for field in fields if field]


def _chooser(symbol: str, chooser: Chooser) -> str:
    """A C++ function from the attributes to the table, and errors for strings that none knows."""
    entry, arguments = chooser.entry, chooser.arguments
    lines = [f"const PointwiseInfo& choose_{symbol}(const Value* args) {{", "  int k = 0;"]
    for name, values in chooser.choices.items():
        arg = f"args[{arguments.index(name)}]"
        lines.append(f"  k = k * {len(values)} + ([&] {{")
        for i, value in enumerate(values):
            if value is None:
                test = f"{arg}.is_none()"
            elif value is PRESENT:
                test = f"!{arg}.is_none()"
            elif isinstance(value, str):
                test = f"!{arg}.is_none() && {arg}.string() == {quote(value)}"
            elif name in entry.special:
                test = f"is_special(args[0], {arg}, {value})"
            else:
                test = f"({arg}.i != 0) == {str(bool(value)).lower()}"
            lines.append(f"    if ({test}) return {i};")
        shown = " or ".join(repr(v) for v in values if v is not PRESENT)
        if any(isinstance(v, str) for v in values):
            text = f"{entry.name}: argument {name!r} must be {shown}, not "
            lines.append(f'    fail({quote(text)}, {arg}.is_none() ? std::string_view("None") : {arg}.string());')
        else:
            lines.append(f"    fail({quote(f'{entry.name}: unexpected value of argument {name!r}')});")
        lines.append("  }());")
    lines.append(
        f"  static const PointwiseInfo* const variants[] = {{{', '.join('&' + v for v in chooser.variants)}}};"
    )
    lines.append("  return *variants[k];\n}\n")
    return "\n".join(lines)

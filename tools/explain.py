"""Prints all that an entry of the catalogue becomes: `python tools/explain.py logaddexp [--all]`.

In the order in which a call passes it (docs/life_of_an_op.md): the entry, its operators, the Python names and what
they call, arguments and tables, dtypes, loops, the autograd node, stubs. Without --all only the first loops are shown.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from catalogue.kinds import Entry, discover  # noqa: E402
from codegen.emit.stubs import stub_lines  # noqa: E402
from codegen.generate import generate  # noqa: E402
from codegen.model import Where  # noqa: E402
from codegen.plan import Plan, make_plan  # noqa: E402

SHOWN_BLOCKS = 3
PACKET_HEADS = ("static constexpr Overload overloads_{}[]", "extern const Packet packet_{} =", "Object* {}(")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="add, add_, add.Scalar, torch.nn.functional.linear")
    parser.add_argument("--all", action="store_true", help="every loop")
    options = parser.parse_args()
    everything = discover()
    plan = make_plan(everything)
    entries = find(plan, options.name)
    if not entries:
        print(f"no operator {options.name!r}; python -m codegen --check lists them", file=sys.stderr)
        return 1
    files = generate(everything)
    for entry in entries:
        explain(plan, files, entry, None if options.all else SHOWN_BLOCKS)
    return 0


def find(plan: Plan, name: str) -> list[Entry]:
    """The entries behind an operator's name, with or without overload, or a public name."""
    short = name.rpartition(".")[2]
    found = [op.entry for op in plan.ops if name in (op.schema.name, op.schema.full_name)]
    found = found or [p.entry for p in plan.packets if p.qualname == name]
    found = found or [s.op.entry for p in plan.packets if p.name == short for s in p.signatures]
    return list({id(e): e for e in found}.values())


def explain(plan: Plan, files: dict[str, str], entry: Entry, limit: int | None) -> None:
    title(f"{entry.where}: {entry.kind} {entry.id}")
    print(source(entry.where))
    ops = plan.ops_of(entry)
    title("Operators")
    for op in ops:
        print(f"{op.op_class:8} vivace::op::{op.symbol:28} {op.schema}")
    cpp = {name: text for name, text in files.items() if name.endswith(".cpp")}
    packets = [p for p in plan.packets if any(s.op.entry is entry for s in p.signatures)]
    heads = [head.format(p.symbol) for p in packets for head in PACKET_HEADS]
    slots = "\n".join(slot_lines(cpp["bindings_tables.cpp"], entry, [op.symbol for op in ops]))
    bound = definitions(cpp, heads, "bindings/") + ([("bindings_tables.cpp", slots)] if slots else [])
    listing("Binding", bound, None)
    listing("Arguments and kernels", marked(cpp, "tables/", entry), None)
    listing("Tables", definitions(cpp, [f"constinit Op {op.symbol} =" for op in ops], "tables/"), None)
    infos = marked(cpp, "pointwise/", entry)
    rows = dict.fromkeys(row for _, info in infos for row in re.findall(r"rows = (\w+)", info))
    listing("Dtypes", infos + definitions(cpp, [f"const PointwiseRow {row}[" for row in rows], "pointwise/"), None)
    loops = sorted(marked(cpp, "loops/", entry), key=lambda found: "_f32(" not in found[1])
    listing("Loops", loops, limit)
    listing("Call wrappers", definitions(cpp, [f"{op.returned} {op.symbol}(" for op in ops], "tables/"), None)
    listing("Autograd", marked(cpp, "nodes/", entry), None)
    title("Stubs")
    for packet in packets:
        print(f"# {packet.qualname}")
        print("\n".join(stub_lines(packet, "")))


def marked(files: dict[str, str], folder: str, entry: Entry) -> list[tuple[str, str]]:
    """What the generated files of a folder have of the entry."""
    return [(name, b) for name, text in files.items() if name.startswith(folder) for b in blocks(text, entry.where)]


def slot_lines(text: str, entry: Entry, symbols: list[str]) -> list[str]:
    """The Python operators behind which the entry stands, and the slot functions that call them."""
    lines = text.split("\n")
    operators = [
        line for line in lines if line.startswith("constexpr Operator") and any(f"&op::{s}," in line for s in symbols)
    ]
    names = [f"({line.split()[2]}," for line in operators] + [f"(packet_method_{entry.name},"]
    return operators + [line for line in lines if line.startswith("Object* slot_") and any(n in line for n in names)]


def title(text: str) -> None:
    print(f"\n---- {text}\n")


def source(where: Where) -> str:
    """The statement of the catalogue that makes the entry."""
    text = where.file.read_text()
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.For)):
            end = node.end_lineno or node.lineno
            if node.lineno <= where.line <= end:
                return "\n".join(lines[node.lineno - 1 : end])
    return lines[where.line - 1]


def blocks(text: str, where: Where) -> Iterator[str]:
    """Pieces of a generated file that name the entry, each up to the next blank line."""
    lines = text.split("\n")
    mark = f"// {where.mark}"
    for i, line in enumerate(lines):
        if line.strip() != mark:
            continue
        end = i
        while end < len(lines) and lines[end].strip():
            end += 1
        start = i - 1 if i and lines[i - 1].startswith("// ") else i
        yield "\n".join(lines[start:end])


def definitions(files: dict[str, str], heads: Iterable[str], folder: str) -> list[tuple[str, str]]:
    """Definitions in a folder that begin with one of the heads, up to the line that closes them."""
    found = []
    heads = list(heads)
    for name, text in files.items():
        if not name.startswith(folder):
            continue
        lines = text.split("\n")
        for head in heads:
            for i, line in enumerate(lines):
                if line.startswith(head):
                    end = next(j for j in range(i, len(lines)) if lines[j].endswith(("};", "}")))
                    found.append((name, "\n".join(lines[i : end + 1])))
    return found


def listing(heading: str, found: list[tuple[str, str]], limit: int | None) -> None:
    if not found:
        return
    title(heading)
    last = ""
    for name, block in found[:limit]:
        if name != last:
            print(f"# {name}")
        last = name
        print(block + "\n")
    if limit is not None and len(found) > limit:
        print(f"... and {len(found) - limit} more (--all)")


if __name__ == "__main__":
    sys.exit(main())

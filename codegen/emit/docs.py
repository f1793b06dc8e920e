"""A reference page per Python name, and their index, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.dtypes import ALL, all_dtypes
from catalogue.kinds import Entry
from catalogue.samples import Sampler
from codegen.derivatives import Derivatives
from codegen.plan import Packet, Plan
from codegen.signature import lines

MAX_SAMPLES = 4


def emit(plan: Plan, derivatives: Derivatives) -> dict[str, str]:
    pages: dict[str, list[Packet]] = {}
    for packet in plan.packets:
        if packet.namespace != "private":
            pages.setdefault(page_name(packet), []).append(packet)
    files = {f"docs/{name}.md": _page(name, packets, derivatives) for name, packets in pages.items()}
    rows = [f"| [{name}]({name}.md) | {_summary(packets)} |" for name, packets in sorted(pages.items())]
    files["docs/index.md"] = "\n".join(["# Operators", "", "| name | what it does |", "| --- | --- |", *rows, ""])
    return files


def page_name(packet: Packet) -> str:
    """Function, method and in-place form of one name share a page: `torch.add`, `torch.nn.functional.linear`."""
    op = packet.signatures[0].op
    name = packet.name[:-1] if op.functional is not None and packet.name.endswith("_") else packet.name
    if packet.namespace == "Tensor":
        return f"torch.{name}" if "function" in packet.entry.variants else f"Tensor.{name}"
    return f"torch.{name}" if packet.namespace == "torch" else f"torch.{packet.namespace}.{name}"


def _entries(packets: Iterable[Packet]) -> list[Entry]:
    found: dict[int, Entry] = {}
    for packet in packets:
        for s in packet.signatures:
            found[id(s.op.entry)] = s.op.entry
    return list(found.values())


def _summary(packets: list[Packet]) -> str:
    doc = next((e.doc for e in _entries(packets) if e.doc), "")
    return doc.strip().split("\n")[0].replace("|", "\\|")


def _page(name: str, packets: list[Packet], derivatives: Derivatives) -> str:
    text = [f"# {name}", ""]
    text += ["```python"]
    for packet in packets:
        prefix = packet.qualname.removesuffix(packet.name)
        text += [prefix + line for line in lines(packet)] if packet.form != "property" else [f"{prefix}{packet.name}"]
    text += ["```", ""]
    for entry in _entries(packets):
        text += _entry(entry, derivatives)
    return "\n".join(text)


def _entry(entry: Entry, derivatives: Derivatives) -> list[str]:
    text = [f"## {', '.join(f'`{s.full_name}`' for s in entry.schemas)}", ""]
    if entry.doc:
        text += [entry.doc.strip(), ""]
    facts = [f"declared in `{entry.where}`"]
    if entry.operator:
        facts.append(f"operator `{entry.operator}`")
    if entry.dtypes != all_dtypes:
        facts.append("dtypes " + ", ".join(d.lower() for d in ALL if d in entry.dtypes))
    nodes = [n.name for n in derivatives.nodes if n.entry is entry]
    facts.append(f"derivative `{', '.join(dict.fromkeys(nodes))}`" if nodes else "no derivative of its own")
    text += [f"- {fact}" for fact in facts]
    if entry.samples:
        samples = entry.samples(Sampler())[:MAX_SAMPLES]
        text += ["", "Calls that the tests make:", "", *[f"- `{entry.name}{sample}`" for sample in samples]]
    return [*text, ""]

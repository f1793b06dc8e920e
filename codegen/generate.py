"""All outputs of the generator, as a map from file name to text."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.kinds import Entry
from codegen.emit import tables
from codegen.plan import make_plan


def generate(entries: Iterable[Entry]) -> dict[str, str]:
    plan = make_plan(entries)
    return tables.emit(plan, lambda op: None, lambda entry: f"pointwise_{entry.name}", lambda entry: "")

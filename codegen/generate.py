"""All outputs of the generator, as a map from file name to text."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.kinds import Entry, Pointwise
from codegen.emit import bindings, kernels, tables
from codegen.plan import make_plan


def generate(entries: Iterable[Entry]) -> dict[str, str]:
    plan = make_plan(entries)
    pointwise = kernels.plan(plan.entries)

    def info_of(entry: Entry) -> str:
        assert isinstance(entry, Pointwise)
        return str(pointwise.info(entry))

    files = tables.emit(plan, lambda op: None, info_of, lambda entry: "")
    files |= bindings.emit(plan)
    files |= pointwise.files()
    return files

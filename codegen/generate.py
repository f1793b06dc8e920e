"""All outputs of the generator, as a map from file name to text."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.kinds import Entry, Pointwise
from codegen.derivatives import make_derivatives
from codegen.emit import bindings, docs, headers, kernels, nodes, stubs, tables
from codegen.plan import make_plan


def generate(entries: Iterable[Entry]) -> dict[str, str]:
    plan = make_plan(entries)
    derivatives = make_derivatives(plan)
    pointwise = kernels.plan(plan.entries, derivatives.fused.values())

    def info_of(entry: Entry) -> str:
        assert isinstance(entry, Pointwise)
        return str(pointwise.info(entry))

    return {
        **tables.emit(plan, derivatives.node_of, info_of),
        **headers.emit(plan),
        **nodes.emit(plan, derivatives, pointwise.info),
        **bindings.emit(plan),
        **pointwise.files(),
        **stubs.emit(plan),
        **docs.emit(plan, derivatives),
    }

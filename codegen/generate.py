"""All outputs of the generator, as a map from file name to text."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.kinds import Entry, Pointwise
from codegen.derivatives import make_derivatives
from codegen.emit import bindings, docs, extension, headers, loops, nodes, pointwise, stubs, tables
from codegen.plan import make_plan
from codegen.pointwise_plan import KernelPlan, plan_kernels


def plan_pointwise(entries: Iterable[Entry]) -> KernelPlan:
    """The loops of all pointwise operators and fused derivatives."""
    plan = make_plan(entries)
    return plan_kernels(plan.entries, make_derivatives(plan).fused.values())


def generate(entries: Iterable[Entry]) -> dict[str, str]:
    plan = make_plan(entries)
    derivatives = make_derivatives(plan)
    kernels = plan_kernels(plan.entries, derivatives.fused.values())

    def info_of(entry: Entry) -> str:
        assert isinstance(entry, Pointwise)
        return str(kernels.info(entry))

    return {
        **tables.emit(plan, derivatives.node_of, info_of),
        **headers.emit(plan),
        **nodes.emit(plan, derivatives, kernels.info),
        **bindings.emit(plan),
        **pointwise.emit(kernels),
        **loops.emit(kernels.loops),
        **stubs.emit(plan),
        **extension.emit(plan),
        **docs.emit(plan, derivatives),
    }

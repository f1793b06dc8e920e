"""Derivatives: runs the lambdas of entries, and finds out what a node saves, which edges it has, and what it is called.

A lambda runs once per combination of the entry's choices (a rounding mode, a missing bound). What its results name is
saved.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from catalogue.dtypes import floating_or_complex
from catalogue.kinds import Composite, Entry, Lambda, Pointwise
from codegen.expr import Expr, TraceError, param
from codegen.model import Argument, CatalogueError
from codegen.plan import OpPlan, Plan
from codegen.pointwise_plan import PRESENT, FusedGrad

MAX_SAVES = 64


@dataclass(frozen=True)
class Save:
    """A value that the node keeps: of enum SaveFrom, and which argument or result."""

    source: str  # enum SaveFrom in runtime/autograd/node.h
    index: int
    name: str  # what the lambda calls it
    argument: Argument | None  # for Arg: its type
    edges: tuple[int, ...] | None = None  # whose gradients are computed from it; None: it is always needed


@dataclass(frozen=True)
class Case:
    """One combination of choices: what the arguments have to be, and the gradients."""

    conditions: tuple[tuple[str, Any], ...]  # argument (lambda's name) -> value; PRESENT: not None
    outputs: tuple[Expr | None, ...]  # one per edge; a single "cpp." call with `whole` gives all
    fused: tuple[FusedGrad | None, ...] = ()


@dataclass(frozen=True)
class Formula:
    cases: tuple[Case, ...]
    whole: bool  # the only output is a call that gives every edge's gradient


@dataclass(frozen=True)
class NodePlan:
    """What autograd records for an operator."""

    symbol: str  # in namespace vivace::nodes
    name: str  # "AddBackward0"
    op: OpPlan
    edges: tuple[int, ...]  # argument indices
    saves: tuple[Save, ...]
    formula: Formula
    fused: Formula | None  # used when no graph is made

    @property
    def entry(self) -> Entry:
        return self.op.entry

    def save_index(self, name: str) -> int:
        return next(i for i, s in enumerate(self.saves) if s.name == name)


@dataclass
class Derivatives:
    nodes: list[NodePlan] = field(default_factory=list)
    by_op: dict[str, NodePlan] = field(default_factory=dict)  # by symbol of the functional op
    fused: dict[str, FusedGrad] = field(default_factory=dict)

    def node_of(self, op: OpPlan) -> NodePlan | None:
        return None if op.op_class == "Out" else self.by_op.get(op.base.symbol)


def node_base_name(name: str) -> str:
    """log_softmax -> LogSoftmaxBackward; PyTorch's rule, digits included (log1p -> Log1P)."""
    return "".join(word.title() for word in name.strip("_").split("_")) + "Backward"


def make_derivatives(plan: Plan) -> Derivatives:
    result = Derivatives()
    numbers: dict[str, int] = {}
    taken: dict[str, NodePlan] = {}
    for entry in plan.entries:
        if entry.grad is None or isinstance(entry, Composite):
            continue
        base = node_base_name(entry.name)
        number = numbers.get(base, 0)
        numbers[base] = number + 1
        for op in plan.ops_of(entry):
            if op.functional is not None:
                continue
            name = entry.nodes.get(op.schema.overload, f"{base}{number}")
            symbol = name if name not in taken else f"{name}_{op.schema.cpp_name}"
            node = _plan_node(result, op, name, symbol)
            taken[symbol] = node
            result.nodes.append(node)
            result.by_op[op.symbol] = node
    return result


def lambda_names(entry: Entry) -> dict[str, str]:
    """Schema argument -> what the entry's lambdas call it."""
    if isinstance(entry, Pointwise):
        inputs = [a.name for a in entry.schemas[0].inputs]
        return dict(zip(inputs, entry.parameters, strict=True))
    return {}


def _plan_node(result: Derivatives, op: OpPlan, name: str, symbol: str) -> NodePlan:
    entry = op.entry
    assert entry.grad is not None
    names = lambda_names(entry)
    candidates = [
        i
        for i, a in enumerate(op.schema.inputs)
        if a.type.is_tensor or (a.type.is_tensor_list and not a.type.element_optional)
    ]
    if entry.differentiable:
        candidates = [i for i in candidates if op.schema.inputs[i].name in entry.differentiable]
    # Positions among all overloads' tensors: the same lambda serves (Tensor, Tensor) and (Tensor, Scalar).
    slots = _slots(entry, op)
    runs = [_trace(entry, op, entry.grad, names, slots)]
    if entry.fused_grad is not None:
        runs.append(_trace(entry, op, entry.fused_grad, names, slots))
    whole = runs[0].whole
    if whole:
        edges = candidates
    else:
        used = {i for run in runs for case in run.cases for i, out in enumerate(case.outputs) if out is not None}
        kept = [i for i in range(len(slots)) if i in used and slots[i] in candidates]
        edges = [slots[i] for i in kept]
        runs = [_only(run, kept) for run in runs]
    saves = tuple(replace(s, edges=_users(s.name, runs)) for s in _saves(op, names, runs))
    if len(saves) > MAX_SAVES:
        raise CatalogueError(entry.where, f"{op.schema.full_name} saves {len(saves)} values")
    formula = runs[0]
    if isinstance(entry, Pointwise) and not whole:
        formula = _fuse(result, entry, formula, name, edges, names)
    return NodePlan(symbol, name, op, tuple(edges), saves, formula, runs[1] if len(runs) > 1 else None)


def _slots(entry: Entry, op: OpPlan) -> list[int]:
    """Argument indices that the lambda's results stand for, in order."""
    tensors: dict[int, None] = {}
    for i, a in enumerate(op.schema.inputs):
        others = [s.inputs[i] for s in entry.schemas if len(s.inputs) > i]
        if any(x.type.base == "Tensor" and not x.type.element_optional for x in [a, *others]):
            tensors[i] = None
    return [i for i in tensors if not entry.differentiable or op.schema.inputs[i].name in entry.differentiable]


def _only(formula: Formula, kept: list[int]) -> Formula:
    cases = tuple(Case(c.conditions, tuple(c.outputs[i] for i in kept)) for c in formula.cases)
    return Formula(cases, formula.whole)


def _trace(entry: Entry, op: OpPlan, function: Lambda, names: dict[str, str], slots: list[int]) -> Formula:
    wanted = list(inspect.signature(function).parameters)
    choices = {names.get(k, k): v for k, v in entry.choices.items()} if isinstance(entry, Pointwise) else {}
    chosen = [n for n in wanted if n in choices]
    cases = []
    whole = False
    for values in itertools.product(*(choices[n] for n in chosen)):
        fixed = dict(zip(chosen, values, strict=True))
        arguments = [fixed[n] if n in fixed and fixed[n] is not PRESENT else param(n) for n in wanted]
        try:
            value = function(*arguments)
        except (TraceError, TypeError, AttributeError) as error:
            raise CatalogueError(entry.where, f"grad of {op.schema.full_name}: {error}") from error
        outputs = list(value) if isinstance(value, (tuple, list)) else [value]
        outputs = [None if isinstance(o, (int, float)) and o == 0 else o for o in outputs]
        whole = not isinstance(value, (tuple, list)) and isinstance(value, Expr) and value.op.startswith("cpp.")
        if any(o is not None and not isinstance(o, Expr) for o in outputs):
            raise CatalogueError(entry.where, f"grad of {op.schema.full_name} gives {value!r}")
        if not whole:
            if len(outputs) > len(slots):
                raise CatalogueError(
                    entry.where,
                    f"grad of {op.schema.full_name} gives {len(outputs)} values for {len(slots)} tensor arguments",
                )
            outputs += [None] * (len(slots) - len(outputs))
        cases.append(Case(tuple(fixed.items()), tuple(outputs)))
    return Formula(tuple(cases), whole)


def leaves_of(outputs: Iterable[Expr | None]) -> list[str]:
    """Names of the parameters below some traces, in order of first use."""
    found: dict[str, None] = {}
    for output in outputs:
        if output is not None:
            for node in all_nodes(output):
                if node.op == "param":
                    found[node.args[0]] = None
    return list(found)


def all_nodes(root: Expr) -> list[Expr]:
    """Like expr.nodes, keyword arguments included."""
    order: dict[Expr, None] = {}

    def visit(value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for v in value:
                visit(v)
        elif isinstance(value, Expr) and value not in order:
            visit(value.args)
            visit([v for _, v in value.kwargs])
            order[value] = None

    visit(root)
    return list(order)


def _saves(op: OpPlan, names: dict[str, str], runs: list[Formula]) -> tuple[Save, ...]:
    outputs = [o for run in runs for case in run.cases for o in case.outputs]
    leaves = leaves_of(outputs)
    leaves += [n for run in runs for case in run.cases for n, _ in case.conditions]
    arguments = {names.get(a.name, a.name): (i, a) for i, a in enumerate(op.schema.inputs)}
    saves = []
    for name in dict.fromkeys(leaves):
        if name in arguments:
            i, a = arguments[name]
            saves.append(Save("Arg", i, name, a))
        elif name == "y" or (name[0] == "y" and name[1:].isdigit()):
            saves.append(Save("Result", int(name[1:] or 0), name, None))
        elif name.endswith("_sizes") and name[:-6] in arguments:
            saves.append(Save("ArgSizes", arguments[name[:-6]][0], name, None))
        elif name.endswith("_dtype") and name[:-6] in arguments:
            saves.append(Save("ArgDType", arguments[name[:-6]][0], name, None))
        elif name.endswith("_layout") and name[:-7] in arguments:
            saves.append(Save("ArgLayout", arguments[name[:-7]][0], name, None))
    return tuple(saves)


def _users(name: str, runs: list[Formula]) -> tuple[int, ...] | None:
    """The edges whose gradients read a saved value; None if it is read in any case."""
    cases = [case for run in runs for case in run.cases]
    if any(run.whole for run in runs) or any(name == n for case in cases for n, _ in case.conditions):
        return None
    return tuple(sorted({i for case in cases for i, o in enumerate(case.outputs) if name in leaves_of([o])}))


def _unfusable(node: Expr) -> bool:
    """Calls of C++, and parts of complex numbers, whose gradient is not of the operands' dtypes."""
    return node.op.startswith("cpp.") or node.op in ("real", "imag")


def _fuse(
    result: Derivatives, entry: Pointwise, formula: Formula, name: str, edges: list[int], names: dict[str, str]
) -> Formula:
    """Adds to each output the kernel that computes it at once; None where that is a call or the gradient itself."""
    operands = [names[o] for o in entry.operands]
    masks = frozenset(names[m] for m in entry.masks)
    dtypes = (entry.dtypes & floating_or_complex) or floating_or_complex
    cases = []
    for c, case in enumerate(formula.cases):
        fused: list[FusedGrad | None] = []
        for edge, output in zip(edges, case.outputs, strict=True):
            if output is None or output.op == "param" or any(_unfusable(n) for n in all_nodes(output)):
                fused.append(None)
                continue
            leaves = leaves_of([output])
            inputs = tuple(n for n in leaves if n in ("g", "y") or n in operands)
            params = tuple(n for n in leaves if n not in inputs)
            key = f"{name}_{edge}" + (f"_{c}" if len(formula.cases) > 1 else "")
            grad = FusedGrad(key, entry.where, inputs, params, output, masks & set(inputs), dtypes)
            fused.append(result.fused.setdefault(key, grad))
        cases.append(Case(case.conditions, case.outputs, tuple(fused)))
    return Formula(tuple(cases), formula.whole)

"""Autograd nodes: what each saves, how it computes gradients (nodes/*.cpp), the formulas it expects (formulas/*.h)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catalogue.kinds import Pointwise
from codegen import cpp
from codegen.calls import MAYBE_TENSOR, TENSOR, TENSORS, Scope, Term, declarations
from codegen.derivatives import Case, Derivatives, Formula, NodePlan, Save, leaves_of
from codegen.expr import Expr
from codegen.model import CatalogueError, Type
from codegen.plan import OpPlan, Plan
from codegen.pointwise_plan import PRESENT, FusedGrad
from codegen.render import render, wrap

InfoOf = Callable[[FusedGrad], str | None]
Used = dict[str, OpPlan]
Formulas = dict[tuple[str, tuple[str, ...]], str]  # name and parameter types -> result
_RESERVED = frozenset({"out", "node", "grads", "needs"})


def emit(plan: Plan, derivatives: Derivatives, info_of: InfoOf) -> dict[str, str]:
    files = {}
    formulas: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {}
    for name, entries in plan.files().items():
        ids = {id(e) for e in entries}
        group = [n for n in derivatives.nodes if id(n.entry) in ids]
        if not group:
            continue
        emitter = _Emitter(plan, info_of)
        functions = [emitter.node(n) for n in group]
        for formula, result in emitter.formulas.items():
            known, where = formulas.setdefault(formula, (result, emitter.sources[formula]))
            if known != result:
                raise CatalogueError(group[0].entry.where, f"cpp.{formula[0]} is used with another result at {where}")
        files[f"nodes/{name}.cpp"] = render(
            "nodes.cpp.in",
            source=entries[0].where.path,
            declarations=emitter.declarations(),
            functions=functions,
            nodes=[_info(n) for n in group],
        )
        if emitter.formulas:
            files[f"formulas/{name}.h"] = render(
                "formulas.h.in", source=entries[0].where.path, declarations=emitter.formula_declarations()
            )
    return files


@dataclass
class _Emitter:
    """The derivatives of one file."""

    plan: Plan
    info_of: InfoOf
    used: Used = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    sources: dict[tuple[str, tuple[str, ...]], str] = field(
        default_factory=dict
    )  # of formulas: the entry that uses them first

    def declarations(self) -> list[str]:
        lines = declarations(self.used.values())
        if self.formulas:
            lines.append("namespace formulas {")
            lines += self.formula_declarations()
            lines.append("}  // namespace formulas")
        if self.tables:
            lines += [
                "namespace tables {",
                *[f"extern const PointwiseInfo {t};" for t in self.tables],
                "}  // namespace tables",
            ]
        return lines

    def formula_declarations(self) -> list[str]:
        return [f"{result} {name}({', '.join(types)});" for (name, types), result in self.formulas.items()]

    def node(self, n: NodePlan) -> str:
        lines = [f"// {n.op.schema}", f"// {n.entry.where.mark}"]
        lines.append(f"void apply_{n.symbol}(Node& node, Tensor* const* grads, Tensor** out, Needs needs) {{")
        if n.fused is not None:
            lines.append("  if (may_fuse(grads)) {")
            lines += _indent(self._formula(n, n.fused), 4)
            lines += ["    return;", "  }"]
        lines += _indent(self._formula(n, n.formula), 2)
        return "\n".join([*lines, "}\n"])

    def _formula(self, n: NodePlan, formula: Formula) -> list[str]:
        if len(formula.cases) == 1:
            return self._case(n, formula, formula.cases[0])
        lines = []
        for case in formula.cases:
            tests = [_condition(n, name, value) for name, value in case.conditions]
            lines.append(f"if ({' && '.join(tests)}) {{")
            lines += _indent(self._case(n, formula, case), 2)
            lines += ["  return;", "}"]
        return lines

    def _case(self, n: NodePlan, formula: Formula, case: Case) -> list[str]:
        if formula.whole:
            call = case.outputs[0]
            assert call is not None
            scope = self._scope(n, call)
            text = scope.formula(call, _whole_result(n))
            self._note_formulas(n)
            return [*scope.lines, f"store(out, {text});"]
        lines = []
        several = len(n.edges) > 1
        for i, output in enumerate(case.outputs):
            if output is None:
                continue
            body = self._output(n, i, output, case.fused[i] if case.fused else None)
            if several:
                lines += [f"if (needs & {1 << i}) {{", *_indent(body, 2), "}"]
            else:
                lines += body
        return lines

    def _output(self, n: NodePlan, i: int, output: Expr, fused: FusedGrad | None) -> list[str]:
        if output.op == "param" and output.args[0] == "g":
            return [f"out[{i}] = share(grads[0]);"]
        scope = self._scope(n, output)
        term = scope.term(output)
        if term.type is None or not term.type.is_tensor:
            raise CatalogueError(n.entry.where, f"the gradient {output!r} of {n.op.schema.full_name} is no tensor")
        self._note_formulas(n)
        nloads = len(self._scope(n, output).lines)
        loads, statements = scope.lines[:nloads], scope.lines[nloads:]
        plain = _into(f"out[{i}]", statements, term)
        table = self.info_of(fused) if fused else None
        if fused is None or table is None:
            return [*loads, *plain]
        self.tables[table] = None
        values = ", ".join(_fused_values(n, fused))
        quick = [f"const Value v[] = {{{values}}};", f"out[{i}] = pointwise(tables::{table}, v);"]
        return [*loads, "if (!may_fuse()) {", *_indent(plain, 2), "} else {", *_indent(quick, 2), "}"]

    def _scope(self, n: NodePlan, output: Expr) -> Scope:
        scope = Scope(self.plan, n.entry.where, "*grads[0]", {}, used=self.used, formulas=self.formulas)
        for name in leaves_of([output]):
            term, line = _leaf(n, name)
            scope.leaves[name] = term
            if line:
                scope.lines.append(line)
        return scope

    def _note_formulas(self, n: NodePlan) -> None:
        for key in self.formulas:
            self.sources.setdefault(key, str(n.entry.where))


def _indent(lines: list[str], n: int) -> list[str]:
    return [" " * n + line for line in lines]


def _into(target: str, statements: list[str], term: Term) -> list[str]:
    """The statements, and the reference of the tensor that they end in given away."""
    handle = term.text.removeprefix("*")
    head = f"const TensorRef {handle} = "
    if statements and statements[-1].startswith(head):
        return [*statements[:-1], f"{target} = {statements[-1].removeprefix(head).removesuffix(';')}.release();"]
    if term.text.startswith("*grads["):
        return [*statements, f"{target} = share({handle});"]
    pointer = f"{handle}.get()" if term.text.startswith("*") else f"&{term.text}"
    return [*statements, f"{target} = share({pointer});"]


def _whole_result(n: NodePlan) -> str:
    """A bare call gives the gradients of all tensor arguments."""
    inputs = n.op.schema.inputs
    kinds = ["std::vector<TensorRef>" if inputs[e].type.is_list else "TensorRef" for e in n.edges]
    return kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"


def _local(name: str) -> str:
    return cpp.identifier(name) + ("_" if name in _RESERVED else "")


def _leaf(n: NodePlan, name: str) -> tuple[Term, str]:
    """A named value of a formula, and the statement that unpacks it."""
    returns = n.op.schema.returns
    if name == "needs":
        return Term("needs", Type("needs")), ""
    if name.startswith("needs_"):
        argument = name.removeprefix("needs_")
        edge = next(i for i, e in enumerate(n.edges) if n.op.schema.inputs[e].name == argument)
        return Term(f"(needs >> {edge} & 1)", Type("bool")), ""
    if name == "g" or (name[0] == "g" and name[1:].isdigit()):
        if returns and returns[0].type.is_tensor_list:
            return Term("TensorList(grads, node.noutputs)", TENSORS), ""
        k = int(name[1:] or 0)
        if n.entry.wants_zeros:
            return Term(f"*grads[{k}]", TENSOR), ""
        return Term(f"grads[{k}]", MAYBE_TENSOR), ""
    k = n.save_index(name)
    save = n.saves[k]
    local = _local(name)
    if save.source == "Result":
        return Term(f"*{local}", TENSOR), f"const TensorRef {local} = saved_tensor(node, {k});"
    if save.source in ("ArgSizes", "ArgLayout"):
        return Term(f"saved_value(node, {k}).int_list()", Type("int", is_list=True)), ""
    if save.source == "ArgDType":
        return Term(f"saved_value(node, {k}).dtype()", Type("ScalarType")), ""
    assert save.argument is not None
    t = save.argument.type
    if t.is_tensor:
        line = f"const TensorRef {local} = saved_tensor(node, {k});"
        maybe = _still_optional(n, name, t)
        return (Term(f"{local}.get()", MAYBE_TENSOR) if maybe else Term(f"*{local}", TENSOR)), line
    if t.is_tensor_list:
        return Term(f"saved_list(node, {k})", t), ""
    present = Type(t.base, t.is_list, t.list_size, _still_optional(n, name, t), t.element_optional)
    return Term(f"unbox<{cpp.type_of(present)}>(saved_value(node, {k}))", present), ""


def _still_optional(n: NodePlan, name: str, t: Type) -> bool:
    """An optional argument that the cases of the formula tell apart is there where it is named."""
    told_apart = any(c == name for case in n.formula.cases for c, _ in case.conditions)
    return t.optional and not told_apart


def _fused_values(n: NodePlan, fused: FusedGrad) -> list[str]:
    """What a fused kernel reads, as Values; tensors among it are unpacked already."""
    values = []
    for name in (*fused.inputs, *fused.params):
        if name == "g":
            values.append("Value::of(grads[0])")
            continue
        k = n.save_index(name)
        values.append(f"Value::of({_local(name)}.get())" if _is_tensor(n.saves[k]) else f"saved_value(node, {k})")
    return values


def _is_tensor(save: Save) -> bool:
    return save.source == "Result" or (save.argument is not None and save.argument.type.is_tensor)


def _condition(n: NodePlan, name: str, value: Any) -> str:
    """Whether a saved argument has the value of a case."""
    text = f"saved_value(node, {n.save_index(name)})"
    if value is None:
        return f"{text}.is_none()"
    if value is PRESENT:
        return f"!{text}.is_none()"
    if isinstance(value, str):
        return f"{text}.tag == Tag::String && {text}.string() == {cpp.string(value)}"
    return f"({text}.i != 0) == {str(bool(value)).lower()}"


def _edge_bits(n: NodePlan, save: Save) -> str:
    """SaveSpec::edges, which has room for seven."""
    if save.edges is None or len(n.edges) == 1 or max(save.edges) > 6:
        return "kAnyEdge"
    return f"{sum(1 << i for i in save.edges):#b}"


def _info(n: NodePlan) -> str:
    lines = []
    if n.edges:
        lines.append(f"static constexpr uint8_t edges_of_{n.symbol}[] = {{{', '.join(map(str, n.edges))}}};")
    if n.saves:
        saves = ", ".join(f"{{SaveFrom::{s.source}, {s.index}, {_edge_bits(n, s)}}}" for s in n.saves)
        lines.append(f"static constexpr SaveSpec saves_of_{n.symbol}[] = {{{saves}}};")
    returns = n.op.schema.returns
    noutputs = 0 if returns and returns[0].type.is_list else len(returns)
    nondiff = sum(1 << i for i in n.entry.nondiff)
    inputs = n.op.schema.inputs
    lists = any(a.type.is_tensor_list for a in inputs)
    linear = sum(1 << i for i, e in enumerate(n.edges) if inputs[e].name in n.entry.linear)
    fields = [
        f".name = {cpp.string(n.name)}",
        f".apply = apply_{n.symbol}",
        f".nedges = {len(n.edges)}",
        f".nsaves = {len(n.saves)}",
        f".noutputs = {noutputs}",
        f".wants_zeros = {str(n.entry.wants_zeros).lower()}",
        f".edge_args = edges_of_{n.symbol}" if n.edges else "",
        f".saves = saves_of_{n.symbol}" if n.saves else "",
        f".nondiff_outputs = {nondiff:#x}" if nondiff else "",
        ".fixed_shape = true" if noutputs and not lists else "",
        ".pointwise = true" if isinstance(n.entry, Pointwise) and noutputs == 1 else "",
        f".linear = {linear:#x}" if linear else "",
    ]
    lines.append(f"extern const NodeInfo {n.symbol};")
    lines.append(wrap(f"const NodeInfo {n.symbol} = {{", [f for f in fields if f], "};"))
    return "\n".join(lines)

"""Composites whose body is traced Python: a C++ function each, which stands beside the operator's table."""

from __future__ import annotations

from dataclasses import dataclass, field

from catalogue.kinds import Composite
from codegen import cpp
from codegen.calls import TENSOR, TENSORS, Scope, Term, declarations
from codegen.expr import Expr, TraceError, param
from codegen.model import CatalogueError, Type
from codegen.plan import OpPlan, Plan

INTS = Type("int", is_list=True)


@dataclass
class Bodies:
    """The bodies of one file, and the operators that they call."""

    plan: Plan
    used: dict[str, OpPlan] = field(default_factory=dict)

    def declarations(self) -> list[str]:
        return declarations(self.used.values())

    def function(self, op: OpPlan) -> list[str]:
        """`TensorRef body_NAME(Tensor& self, ...) { ... }`."""
        entry = op.entry
        assert isinstance(entry, Composite)
        assert entry.body is not None
        names = entry.body.__code__.co_varnames[: entry.body.__code__.co_argcount]
        try:
            value = entry.body(*[param(n) for n in names])
        except (TraceError, TypeError, AttributeError) as error:
            raise CatalogueError(entry.where, f"body of {op.schema.full_name}: {error}") from error
        results = list(value) if isinstance(value, (tuple, list)) else [value]
        like = next((cpp.identifier(a.name) for a in op.schema.inputs if a.type.is_tensor), "")
        scope = Scope(self.plan, entry.where, like, _leaves(op), used=self.used)
        terms = [scope.term(r) for r in results]
        if len(terms) != len(op.schema.returns) or not all(isinstance(r, Expr) for r in results):
            raise CatalogueError(entry.where, f"body of {op.schema.full_name} gives {value!r}")
        texts = [_handle(t) for t in terms]
        result = texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"
        head = f"{cpp.result_of(op.schema.returns)} body_{op.symbol}({cpp.parameters(op.schema.arguments)}) {{"
        return [head, *[f"  {line}" for line in scope.lines], f"  return {result};", "}"]


def _leaves(op: OpPlan) -> dict[str, Term]:
    leaves = {}
    for _, a in cpp.passed(op.schema.arguments):
        name = cpp.identifier(a.name)
        leaves[a.name] = Term(name, a.type)
        if a.type == TENSOR or a.type.is_tensor:
            arrow = "->" if a.type.optional else "."
            leaves[f"{a.name}_sizes"] = Term(f"{name}{arrow}sizes()", INTS)
            leaves[f"{a.name}_dtype"] = Term(f"{name}{arrow}dtype()", Type("ScalarType"))
    return leaves


def _handle(term: Term) -> str:
    """A term as what a C++ function returns."""
    if term.type is None or term.type == TENSORS:
        return term.text
    if term.text.startswith("*"):
        return f"TensorRef({term.text[1:]})"
    return f"TensorRef::share(&{term.text})"

"""Turns untyped traces into C++ that calls operators: overloads are chosen as a call from Python would choose them.

Used for derivatives (emit/nodes.py) and for composites with a traced body (emit/composites.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from codegen import cpp
from codegen.expr import Expr
from codegen.model import Argument, CatalogueError, Type, Where
from codegen.plan import OpPlan, Plan, parameter_types

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARISON = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
TENSOR = Type("Tensor")
MAYBE_TENSOR = Type("Tensor", optional=True)
TENSORS = Type("Tensor", is_list=True)
SCALAR = Type("Scalar")


@dataclass(frozen=True)
class Term:
    """A C++ expression: of type `cpp.type_of(type)`, or a Python constant (type None)."""

    text: str
    type: Type | None
    constant: Any = None


@dataclass
class Scope:
    """Statements of one block, and the values that are known in it. `leaf` makes the term of a parameter."""

    plan: Plan
    where: Where
    like: str  # a Tensor& whose dtype numbers take when an operator wants a tensor
    leaves: dict[str, Term]
    lines: list[str] = field(default_factory=list)
    terms: dict[Expr, Term] = field(default_factory=dict)
    used: dict[str, OpPlan] = field(default_factory=dict)  # operators to declare
    formulas: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)  # NAME, parameter types -> result
    count: int = 0

    def term(self, value: Any) -> Term:
        if not isinstance(value, Expr):
            return Term("", None, value)
        if value not in self.terms:
            self.terms[value] = self._make(value)
        return self.terms[value]

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count - 1}"

    def error(self, text: str) -> CatalogueError:
        return CatalogueError(self.where, text)

    def _make(self, e: Expr) -> Term:
        if e.op == "const":
            return Term("", None, e.args[0])
        if e.op == "param":
            if e.args[0] not in self.leaves:
                raise self.error(f"no value named {e.args[0]!r}")
            return self.leaves[e.args[0]]
        if e.op == "getitem":
            return self._getitem(e)
        if e.op.startswith("cpp."):
            name = self.fresh()
            self.lines.append(f"const TensorRef {name} = {self.formula(e, 'TensorRef')};")
            return Term(f"*{name}", TENSOR)
        args = [self.term(a) if not isinstance(a, (list, tuple)) else Term("", None, a) for a in e.args]
        kwargs = {k: self.term(v) for k, v in e.kwargs}
        if (scalar := self._scalar(e.op, args)) is not None:
            return scalar
        op, texts = self.resolve(e.op, args, kwargs)
        name = self.fresh()
        result = cpp.result_of(op.schema.returns)
        self.lines.append(f"const {result} {name} = ops::{op.symbol}({', '.join(texts)});")
        return Term(f"*{name}", TENSOR) if result == "TensorRef" else Term(name, None, op)

    def _getitem(self, e: Expr) -> Term:
        whole, index = e.args
        term = self.term(whole)
        if isinstance(term.constant, OpPlan) and isinstance(index, int):
            returns = term.constant.schema.returns
            is_list = len(returns) == 1
            return Term(f"*{term.text}[{index}]" if is_list else f"*std::get<{index}>({term.text})", TENSOR)
        if term.type is not None and term.type.is_list and isinstance(index, int):
            element = TENSOR if term.type.base == "Tensor" else Type("int")
            return Term(f"{'*' if element is TENSOR else ''}{term.text}[{index}]", element)
        raise self.error(f"cannot index {whole!r} with {index!r}")

    def _scalar(self, name: str, args: list[Term]) -> Term | None:
        """Arithmetic on numbers alone happens in C++, without tensors."""
        if not all(_is_number(a) for a in args):
            return None
        texts = [self.convert(a, SCALAR) or "" for a in args]
        if name in _ARITHMETIC and len(args) == 2:
            return Term(f"({texts[0]} {_ARITHMETIC[name]} {texts[1]})", SCALAR)
        if name == "neg":
            return Term(f"(-{texts[0]})", SCALAR)
        if name in ("conj", "log", "sqrt", "reciprocal") and len(args) == 1:
            return Term(f"scalar_{name}({texts[0]})", SCALAR)
        if name in _COMPARISON and len(args) == 2:
            return Term(f"Scalar({texts[0]} {_COMPARISON[name]} {texts[1]})", SCALAR)
        return None

    # ---- calls

    def formula(self, e: Expr, result: str) -> str:
        """A call of formulas::NAME, whose parameters have the types of the values given."""
        name = e.op.removeprefix("cpp.")
        texts, types = [], []
        for value in [*e.args, *(v for _, v in e.kwargs)]:
            text, type_ = self._formula_argument(value)
            texts.append(text)
            types.append(type_)
        known = self.formulas.setdefault((name, tuple(types)), result)
        if known != result:
            raise self.error(f"cpp.{name} is used with other results: {known} and {result}")
        return f"formulas::{name}({', '.join(texts)})"

    def _formula_argument(self, value: Any) -> tuple[str, str]:
        term = self.term(value) if not isinstance(value, (list, tuple)) else Term("", None, value)
        if term.type is not None:
            return term.text, cpp.type_of(term.type)
        constant = term.constant
        if isinstance(constant, bool):
            return str(constant).lower(), "bool"
        if isinstance(constant, int):
            return str(constant), "int64_t"
        if isinstance(constant, float):
            return cpp.number(constant), "double"
        if isinstance(constant, str):
            return cpp.string(constant), "std::string_view"
        if constant is None:
            return "nullptr", "Tensor*"
        if isinstance(constant, (list, tuple)):
            tensors = any(isinstance(v, Expr) for v in constant)
            text = self.convert(term, TENSORS if tensors else Type("int", is_list=True))
            if text is not None:
                return text, "TensorList" if tensors else "IntList"
        raise self.error(f"cannot pass {value!r} to C++")

    def resolve(self, name: str, args: list[Term], kwargs: dict[str, Term]) -> tuple[OpPlan, list[str]]:
        """The first overload that the arguments fit, and the arguments as it takes them."""
        candidates = [op for op in self.plan.by_name.get(name, []) if op.op_class in ("Plain", "View")]
        if not candidates:
            raise self.error(f"{name!r} is no operator of the catalogue")
        for numbers_as_tensors in (False, True):
            for op in candidates:
                mark = len(self.lines)
                texts = self._fit(op, args, kwargs, numbers_as_tensors)
                if texts is not None:
                    self.used[op.symbol] = op
                    return op, texts
                del self.lines[mark:]
        if name in ("add", "mul") and len(args) == 2 and _is_number(args[0]):
            return self.resolve(name, [args[1], args[0]], kwargs)
        shown = ", ".join(_describe(a) for a in args)
        known = "; ".join(str(op.schema) for op in candidates)
        raise self.error(f"no overload of {name} takes ({shown}); there is {known}")

    def _fit(self, op: OpPlan, args: list[Term], kwargs: dict[str, Term], numbers_as_tensors: bool) -> list[str] | None:
        inputs = op.schema.inputs
        positional = [a for a in inputs if not a.keyword_only]
        if len(args) > len(positional) or any(k not in {a.name for a in inputs} for k in kwargs):
            return None
        given = dict(zip((a.name for a in positional), args, strict=False)) | kwargs
        texts = []
        for _, a in cpp.passed(inputs):
            if a.name in given:
                text = self.convert(given[a.name], a.type, numbers_as_tensors)
            elif a.required:
                return None
            else:
                text = default_text(a)
            if text is None:
                return None
            texts.append(text)
        return texts

    # ---- conversions

    def convert(self, term: Term, to: Type, numbers_as_tensors: bool = False) -> str | None:
        """The term as an argument of type `to`; None if it does not fit."""
        if term.type is not None:
            return self._convert_value(term, to, numbers_as_tensors)
        value = term.constant
        if value is None:
            if not to.optional:
                return None
            return "nullptr" if to.is_tensor or to.base in ("Scalar", "Generator") else "std::nullopt"
        if isinstance(value, (list, tuple)):
            return self._convert_list(list(value), to)
        if to.is_list:
            ok = to.list_size and isinstance(value, int) and not isinstance(value, bool)
            return self._convert_list([value] * (to.list_size or 1), to) if ok else None
        if isinstance(value, str):
            if to.base == "str":
                return cpp.string(value)
            return f"DType::{cpp.DTYPES[value]}" if to.base == "ScalarType" and value in cpp.DTYPES else None
        if not isinstance(value, (bool, int, float, complex)):
            return None
        if to.base == "Tensor" and numbers_as_tensors:
            return self._number_tensor(cpp.scalar(value), to)
        if to.base == "Scalar":
            text = cpp.scalar(value)
            return f"&static_cast<const Scalar&>({text})" if to.optional else text
        if to.base == "bool" and isinstance(value, bool):
            return str(value).lower()
        if to.base == "int" and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if to.base == "float" and isinstance(value, (int, float)):
            return cpp.number(float(value))
        return None

    def _convert_value(self, term: Term, to: Type, numbers_as_tensors: bool) -> str | None:
        have = term.type
        assert have is not None
        if (have.base, have.is_list) == (to.base, to.is_list):
            if have.optional == to.optional or (to.optional and not (to.is_tensor or to.base == "Scalar")):
                return term.text
            if to.optional:
                return f"&{term.text}" if not term.text.startswith("*") else f"{term.text[1:]}.get()"
            return None
        if to.base == "Scalar" and not to.is_list and _is_number(term):
            return f"Scalar({term.text})" if have.base != "Scalar" else term.text
        if to.base == "float" and have.base == "int" and not have.is_list:
            return f"double({term.text})"
        if to.base == "Tensor" and not to.is_list and numbers_as_tensors and _is_number(term):
            return self._number_tensor(self.convert(term, SCALAR) or "", to)
        if to.is_list and to.list_size and have.base == to.base and not have.is_list:
            return self._convert_list([term] * to.list_size, to)
        return None

    def _number_tensor(self, text: str, to: Type) -> str:
        name = self.fresh()
        self.lines.append(f"const TensorRef {name} = number_like({self.like}, {text});")
        return f"{name}.get()" if to.optional else f"*{name}"

    def _convert_list(self, values: list[Any], to: Type) -> str | None:
        if not to.is_list:
            return None
        if not values:
            return "{}"
        element = Type(to.base)
        texts = []
        for value in values:
            text = self.convert(value if isinstance(value, Term) else self.term(value), element)
            if text is None:
                return None
            texts.append(f"&{text}" if element.is_tensor and not text.startswith("*") else text)
        name = self.fresh()
        kind = {"Tensor": "Tensor* const", "int": "const int64_t", "float": "const double"}.get(to.base)
        if kind is None:
            return None
        if to.base == "Tensor":
            texts = [f"{t[1:]}.get()" if t.startswith("*") else t for t in texts]
        self.lines.append(f"{kind} {name}[] = {{{', '.join(texts)}}};")
        return name if to.base == "float" else f"{cpp.type_of(Type(to.base, is_list=True))}({name})"


def default_text(a: Argument) -> str:
    """A default as an argument of a call; lists stand in arrays of their own file."""
    text = cpp.default_argument(a)
    return "std::nullopt" if text == "{}" and a.default is None else text


def _is_number(term: Term) -> bool:
    if term.type is None:
        return isinstance(term.constant, (bool, int, float, complex))
    return not term.type.is_list and not term.type.optional and term.type.base in ("Scalar", "int", "float", "bool")


def _describe(term: Term) -> str:
    return repr(term.constant) if term.type is None else str(term.type)


def declarations(ops: Iterable[OpPlan]) -> list[str]:
    """What a file that calls these operators declares; a header would change with every entry of its file."""
    ops = list(ops)
    if not ops:
        return []
    lines = [f"{cpp.result_of(op.schema.returns)} {op.symbol}({', '.join(parameter_types(op.schema))});" for op in ops]
    return ["namespace ops {", *lines, "}  // namespace ops"]

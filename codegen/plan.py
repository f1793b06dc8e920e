"""What the entries become: an OpPlan per operator of the runtime (functional, in place, out=), and the Python names.

Everything an emitter needs to know is decided here, so that emitters only write text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from catalogue.kinds import Composite, Entry, Op, Pointwise, View
from codegen import cpp
from codegen.model import ROOT, Argument, CatalogueError, Return, Schema, Type, Where


@dataclass(frozen=True)
class OpPlan:
    """An operator of the runtime: an overload of an entry in one of its forms."""

    entry: Entry
    schema: Schema
    op_class: str  # of enum OpClass: Plain, InPlace, Out, View
    functional: OpPlan | None = None  # of an in-place or out= form

    @property
    def symbol(self) -> str:
        """The name of the C++ object in namespace vivace::op, and of the call wrapper in vivace::ops."""
        return cpp.identifier(self.schema.cpp_name)

    @property
    def base(self) -> OpPlan:
        """The functional form: where the derivative and the kernel are declared."""
        return self.functional or self

    @property
    def returned(self) -> str:
        """What the call wrapper returns."""
        return "Tensor&" if self.op_class == "InPlace" else cpp.result_of(self.schema.returns)


@dataclass(frozen=True)
class Signature:
    """One overload behind a Python name."""

    op: OpPlan
    out: OpPlan | None
    varargs: bool


@dataclass(frozen=True)
class Packet:
    """A Python name in one place: a function of a namespace, a method, a property."""

    name: str
    namespace: str  # "torch", "nn.functional", ... or "Tensor"
    form: str  # "function", "method", "property"
    signatures: tuple[Signature, ...]

    @property
    def symbol(self) -> str:
        """`method_add`, `nn_functional_linear`."""
        place = self.form if self.namespace == "Tensor" else self.namespace.replace(".", "_")
        return f"{place}_{self.name}"

    @property
    def qualname(self) -> str:
        prefix = {"Tensor": "Tensor", "torch": "torch", "private": "torch._C"}.get(self.namespace)
        return f"{prefix or 'torch.' + self.namespace}.{self.name}"

    @property
    def entry(self) -> Entry:
        return self.signatures[0].op.entry


@dataclass(frozen=True)
class Plan:
    entries: tuple[Entry, ...]
    ops: tuple[OpPlan, ...]
    packets: tuple[Packet, ...]
    by_name: dict[str, list[OpPlan]] = field(repr=False)

    def files(self) -> dict[str, list[Entry]]:
        """Entries by catalogue file, `pointwise/arith`: what is generated from it lies in files of that name."""
        files: dict[str, list[Entry]] = {}
        for entry in self.entries:
            files.setdefault(file_name(entry.where), []).append(entry)
        return files

    def ops_of(self, entry: Entry) -> list[OpPlan]:
        return [op for op in self.ops if op.entry is entry]


def file_name(where: Where) -> str:
    """catalogue/pointwise/arith.py -> pointwise/arith."""
    file, catalogue = where.file, ROOT / "catalogue"
    return str(file.relative_to(catalogue).with_suffix("")) if file.is_relative_to(catalogue) else file.stem


def make_plan(entries: Iterable[Entry]) -> Plan:
    entries = tuple(entries)
    ops = [op for entry in entries for op in _forms(entry)]
    by_name: dict[str, list[OpPlan]] = {}
    seen: dict[str, OpPlan] = {}
    for op in ops:
        other = seen.setdefault(op.symbol, op)
        if other is not op:
            raise CatalogueError(op.entry.where, f"{op.schema.full_name} is declared at {other.entry.where} too")
        by_name.setdefault(op.schema.name, []).append(op)
    return Plan(entries, tuple(ops), tuple(_packets(ops)), by_name)


_SELF = Type("Tensor", alias="a", mutated=True)


def _forms(entry: Entry) -> list[OpPlan]:
    ops = []
    for schema in entry.schemas:
        op = OpPlan(entry, schema, _class(entry, schema))
        ops.append(op)
        if entry.inplace and schema.arguments[0].type.is_tensor:
            ops.append(OpPlan(entry, _inplace_schema(schema), "InPlace", op))
        if entry.out:
            ops.append(OpPlan(entry, _out_schema(entry, schema), "Out", op))
    return ops


def _class(entry: Entry, schema: Schema) -> str:
    if isinstance(entry, View):
        return "View"
    first = schema.arguments[0] if schema.arguments else None
    if first and first.type.is_tensor and first.type.mutated:
        return "InPlace"
    return "Plain"


def _inplace_schema(schema: Schema) -> Schema:
    first = replace(schema.arguments[0], type=_SELF)
    return replace(schema, name=schema.name + "_", arguments=(first, *schema.arguments[1:]), returns=(Return(_SELF),))


def _out_schema(entry: Entry, schema: Schema) -> Schema:
    plain = schema.overload == "" or (schema.overload == "Tensor" and all(s.overload for s in entry.schemas))
    overload = "out" if plain else f"{schema.overload}_out"
    outputs = []
    for letter, name in zip("abcdefgh", output_names(schema), strict=False):
        outputs.append(Argument(name, Type("Tensor", alias=letter, mutated=True), keyword_only=True, is_output=True))
    returns = tuple(Return(a.type, r.name) for a, r in zip(outputs, schema.returns, strict=True))
    return replace(schema, overload=overload, arguments=(*schema.arguments, *outputs), returns=returns)


def _packets(ops: list[OpPlan]) -> list[Packet]:
    """Overloads of one Python name, from however many entries: those with tensors before those with numbers."""
    outs = {id(op.functional): op for op in ops if op.op_class == "Out"}
    places: dict[tuple[str, str, str], list[Signature]] = {}

    def add(place: tuple[str, str, str], op: OpPlan) -> None:
        arguments = op.schema.arguments[0 if place[1] != "Tensor" else 1 :]
        positional = [a for a in arguments if not a.keyword_only and not a.is_output]
        varargs = len(positional) == 1 and positional[0].type.is_list and positional[0].type.base == "int"
        signature = Signature(op, outs.get(id(op)), varargs)
        signatures = places.setdefault(place, [])
        if signature not in signatures:
            signatures.append(signature)

    for op in ops:
        if op.op_class == "Out":
            continue
        entry, name = op.entry, op.schema.name
        derived = op.op_class == "InPlace" and op.functional is not None
        suffix = "_" if derived else ""
        method = op.schema.arguments and op.schema.arguments[0].name == "self" and op.schema.arguments[0].type.is_tensor
        names = [(entry.namespace, name)]
        for alias in entry.aliases:
            namespace, _, short = alias.rpartition(".")
            names.append((namespace or entry.namespace, short + suffix))
        for namespace, public in names:
            # In place, only what takes a lone tensor is a function too (torch.exp_).
            function = "function" in entry.variants and (not derived or _is_unary(entry))
            if function:
                add((public, namespace, "function"), op)
            if namespace in ("torch", entry.namespace) and method:
                if "method" in entry.variants:
                    add((public, "Tensor", "method"), op)
                if "property" in entry.variants:
                    add((public, "Tensor", "property"), op)
    return [
        Packet(name, namespace, form, tuple(sorted(signatures, key=_numbers)))
        for (name, namespace, form), signatures in places.items()
    ]


def _numbers(signature: Signature) -> int:
    """A 0-dim tensor is a number too, so an overload that takes it as a tensor has to be tried first."""
    return sum(a.type.base == "Scalar" for a in signature.op.schema.arguments if not a.keyword_only)


def _is_unary(entry: Entry) -> bool:
    return isinstance(entry, Pointwise) and entry.operands == ("self",)


@dataclass(frozen=True)
class Function:
    """A hand-written C++ function that an entry names."""

    namespace: str
    name: str
    result: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    entry: Entry

    @property
    def declaration(self) -> str:
        parameters = ", ".join(f"{t} {n}" for t, n in zip(self.types, self.names, strict=True))
        return f"{self.result} {self.name}({parameters});"


def functions_of(op: OpPlan) -> list[Function]:
    """What the entry of a functional operator promises to exist."""
    entry, schema = op.entry, op.schema
    kernel = getattr(entry, "kernel", None)
    if op.functional is not None or not isinstance(kernel, str) or not kernel:
        return []
    given = [a for _, a in cpp.passed(schema.arguments)]
    types = parameter_types(schema)
    names = tuple(cpp.identifier(a.name) for a in given)
    result = cpp.result_of(schema.returns)
    if isinstance(entry, Op) and op.op_class == "InPlace":
        return [Function("kernels", kernel, "void", types, names, entry)]
    if isinstance(entry, Op) and entry.structured:
        outputs = output_names(schema)
        fill_types = (*types, *["Tensor&"] * len(outputs))
        return [
            Function("meta", kernel, result, types, names, entry),
            Function("kernels", kernel, "void", fill_types, (*names, *outputs), entry),
        ]
    return [Function("composite" if isinstance(entry, Composite) else "kernels", kernel, result, types, names, entry)]


def parameter_types(schema: Schema) -> tuple[str, ...]:
    """The C++ types that kernels and call wrappers take."""
    return tuple(cpp.type_of(a.type) for _, a in cpp.passed(schema.arguments))


def output_names(schema: Schema) -> tuple[str, ...]:
    """What the outputs are called, as out= arguments and in kernels."""
    if len(schema.returns) == 1:
        return ("out",)
    taken = {a.name for a in schema.inputs}
    return tuple(r.name if r.name and r.name not in taken else f"out{i}" for i, r in enumerate(schema.returns))


def kernel_functions(ops: Iterable[OpPlan]) -> list[Function]:
    """Every C++ function that operators name, each once. CatalogueError where two entries disagree on one."""
    declared: dict[tuple[str, str], Function] = {}
    for op in ops:
        for function in functions_of(op):
            key = (function.namespace, function.name)
            other = declared.setdefault(key, function)
            if (other.result, other.types) != (function.result, function.types):
                text = f"{key[0]}::{key[1]} is used with other types at {other.entry.where}: {other.declaration}"
                raise CatalogueError(function.entry.where, text)
    return list(declared.values())

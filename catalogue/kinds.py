"""Declares operators. Each function here makes one frozen entry that knows the catalogue line it stands on.

A kind carries the defaults (schema, variants, dtype rule); an entry states what differs. Entries register themselves,
and `discover()` imports every module under catalogue/, so nothing lists operators. What follows: codegen/plan.py.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from catalogue.dtypes import DTypes, Result, all_dtypes, bool_result, same
from codegen.model import Argument, CatalogueError, Schema, Where, caller
from codegen.schema import SchemaError, parse

Lambda = Callable[..., Any]
Samples = Callable[[Any], list[Any]]
VARIANTS = frozenset(
    {"function", "method", "property", "assignable"}
)  # assignable: a property whose view is written to
WRITES = ("cast", "overlap")  # enum Writes in runtime/dispatch/op.h
AUTOCAST = ("lower", "float32", "promote")  # kernels in runtime/autograd/autocast.h
NAMESPACES = ("torch", "nn.functional", "linalg", "special", "fft", "private")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What every kind has. `schemas` are the functional overloads, in the order in which a call tries them."""

    where: Where
    schemas: tuple[Schema, ...]
    namespace: str = "torch"  # "private": reachable from C++ and derivatives only
    variants: frozenset[str] = frozenset({"function", "method"})  # see VARIANTS
    aliases: tuple[str, ...] = ()  # other public names: "absolute", "special.expit"
    inplace: bool = False  # derive NAME_
    out: bool = False  # derive out=
    writes: tuple[str, ...] = ()  # what these two allow beyond PyTorch's rule: see WRITES
    operator: str = ""  # Python's symbol: "+", "<", "@", "~"
    commutative: bool = False  # the reflected operator swaps its operands
    grad: Lambda | None = None
    fused_grad: Lambda | None = None
    wants_zeros: bool = True  # undefined incoming gradients arrive as zeros
    nondiff: tuple[int, ...] = ()  # outputs without gradient
    differentiable: tuple[str, ...] = ()  # tensor arguments that have a gradient (default: all)
    linear: tuple[str, ...] = ()  # linear in each of these while the others stay: runtime/autograd/derive.h
    nodes: Mapping[str, str] = field(
        default_factory=dict
    )  # overload -> node name, where PyTorch's rule does not give it
    autocast: str = ""  # what autocast makes of floating arguments: see AUTOCAST
    dtypes: DTypes = all_dtypes
    doc: str = ""
    ref: Callable[..., Any] | None = None
    samples: Samples | None = None
    edges: tuple[float, ...] = ()
    names: tuple[str, ...] = ()  # fields of a named-tuple result
    return_type: str = ""  # and its type's name: torch.return_types.NAME

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()

    @property
    def name(self) -> str:
        return self.schemas[0].name

    @property
    def id(self) -> str:
        """Unique over the catalogue."""
        return self.schemas[0].full_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In a traced lambda: a call of this operator by name; on numbers: its value by the entry's own kernel."""
        from codegen import expr

        return expr.apply(self, *args, **kwargs)


@dataclass(frozen=True, kw_only=True)
class Pointwise(Entry):
    """Each element of the result follows from the elements at its place; `kernel` says how.

    `kernel` takes the arguments by `parameters`. Operands broadcast and promote; the others are parameters of a loop.
    Optional, bool and str arguments are Python values when the lambda runs: it is traced once per combination.
    """

    kernel: Lambda
    integer: Lambda | None = None
    complex: Lambda | None = None
    boolean: Lambda | None = None
    result: Result = same
    parameters: tuple[str, ...] = ()  # the lambda's names of the schema's arguments, in order
    operands: tuple[str, ...] = ()  # schema arguments that are read elementwise
    promoting: tuple[str, ...] = ()  # those that decide the dtype; the others are cast to it
    masks: tuple[str, ...] = ()  # those among the others that are read as bool
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    special: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # numbers with a shorter kernel
    check: str = ""  # C++ function `void checks::NAME(const Value* args)` that runs first
    row_major: bool = False  # the result is, whatever the layout of the operands


@dataclass(frozen=True, kw_only=True)
class Op(Entry):
    """A kernel in C++: `meta::NAME` and `kernels::NAME` if structured, else `kernels::NAME` alone."""

    kernel: str
    structured: bool = True
    alias_safe: bool = False
    device_neutral: bool = False  # kernels::NAME serves every device: core makes, copies and fills all it touches
    on_meta: bool = False  # kernels::NAME also serves the meta device, where it leaves memory alone


@dataclass(frozen=True, kw_only=True)
class View(Op):
    """Shares memory with its first argument: `kernels::NAME` makes the view, on every backend."""

    structured: bool = False
    device_neutral: bool = True


@dataclass(frozen=True, kw_only=True)
class Composite(Entry):
    """Calls other operators: traced Python (`body`) or C++ (`composite::NAME`). Autograd sees what it calls."""

    kernel: str = ""
    body: Lambda | None = None


_declared: list[Entry] = []
E = TypeVar("E", bound=Entry)


def _register(entry: E) -> E:
    _declared.append(entry)
    return entry


def _parse(where: Where, text: str) -> Schema:
    try:
        return parse(text)
    except SchemaError as error:
        raise CatalogueError(where, str(error)) from None


def _variants(where: Where, text: str) -> frozenset[str]:
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    if not words <= VARIANTS:
        raise CatalogueError(where, f"variants are {', '.join(sorted(VARIANTS))}; not {text!r}")
    return words


def _common(where: Where, schemas: Iterable[Schema], options: dict[str, Any]) -> dict[str, Any]:
    """Checks and completes what the caller gave beyond the kind's own options."""
    schemas = tuple(schemas)
    fields = {f.name for f in dataclasses.fields(Entry)}
    for name in options:
        if name not in fields:
            raise CatalogueError(where, f"unknown option {name!r}")
    namespace = options.get("namespace", "torch")
    if namespace not in NAMESPACES:
        raise CatalogueError(where, f"unknown namespace {namespace!r} (known: {', '.join(NAMESPACES)})")
    if unknown := set(options.get("writes", ())) - set(WRITES):
        raise CatalogueError(where, f"writes= has no {', '.join(unknown)} (known: {', '.join(WRITES)})")
    if options.get("autocast", "") not in ("", *AUTOCAST):
        raise CatalogueError(where, f"autocast= is one of {', '.join(AUTOCAST)}; not {options['autocast']!r}")
    arguments = schemas[0].arguments
    if "variants" in options:
        options["variants"] = _variants(where, options["variants"])
    elif namespace != "torch" or not arguments or arguments[0].name != "self":
        options["variants"] = frozenset({"function"})
    elif schemas[0].name.endswith("_"):
        options["variants"] = frozenset({"method"})
    if isinstance(options.get("aliases"), str):
        options["aliases"] = tuple(word.strip() for word in options["aliases"].split(","))
    if not all(options.get("aliases", ())):
        raise CatalogueError(where, "aliases= has an empty name")
    options["where"] = dataclasses.replace(where, name=schemas[0].full_name)
    options["schemas"] = schemas
    return options


def _check_lambda(where: Where, what: str, function: Lambda | None, names: Iterable[str]) -> None:
    if function is None:
        return
    known = set(names)
    for name in inspect.signature(function).parameters:
        if name not in known:
            raise CatalogueError(where, f"{what} has no value named {name!r} (known: {', '.join(sorted(known))})")


def _check_grad(entry: Entry, arguments: Mapping[str, str]) -> None:
    """`arguments`: the schema's names and what the lambdas call them."""
    names = {"needs", "g", "y"}
    for schema in entry.schemas:
        n = max(len(schema.returns), 1)
        names |= {f"g{i}" for i in range(n)} | {f"y{i}" for i in range(n)}
        for a in schema.arguments:
            name = arguments.get(a.name, a.name)
            names |= {name, f"{name}_sizes", f"{name}_dtype", f"{name}_layout", f"needs_{name}"}
    _check_lambda(entry.where, "grad", entry.grad, names)
    _check_lambda(entry.where, "fused_grad", entry.fused_grad, names)


def _pointwise(
    where: Where,
    schemas: Iterable[str],
    parameters: Mapping[str, str],
    operands: tuple[str, ...],
    promoting: tuple[str, ...] | None,
    kernel: Lambda,
    options: dict[str, Any],
) -> Pointwise:
    own = {
        name: options.pop(name)
        for name in ("integer", "complex", "boolean", "result", "choices", "check", "masks", "special", "row_major")
        if name in options
    }
    options.setdefault("writes", ("cast",))
    entry = Pointwise(
        kernel=kernel,
        parameters=tuple(parameters.values()),
        operands=operands,
        promoting=operands if promoting is None else promoting,
        **own,
        **_common(where, [_parse(where, s) for s in schemas], options),
    )
    for what in ("kernel", "integer", "complex", "boolean"):
        _check_lambda(where, what, getattr(entry, what), entry.parameters)
    _check_grad(entry, parameters)
    return _register(entry)


def _arguments(where: Where, text: str) -> tuple[Argument, ...]:
    return _parse(where, f"f({text}) -> ()").arguments


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def unary(name: str, *, kernel: Lambda, args: str = "", **options: Any) -> Pointwise:
    """`NAME(Tensor self, args) -> Tensor`, in place, out=. The lambdas call self `a`."""
    where = caller()
    options = {"inplace": True, "out": True} | options
    names = {"self": "a"} | {a.name: a.name for a in _arguments(where, args)}
    base, _, overload = name.partition(".")
    schema = f"{base}{'.' + overload if overload else ''}({_joined('Tensor self', args)}) -> Tensor"
    return _pointwise(where, [schema], names, ("self",), None, kernel, options)


_FORMS = {
    "TT": ("Tensor self", "Tensor other"),
    "TS": ("Tensor self", "Scalar other"),
    "ST": ("Scalar self", "Tensor other"),
}


def binary(
    name: str,
    *,
    kernel: Lambda,
    alpha: bool = False,
    args: str = "",
    overloads: Mapping[str, str] = MappingProxyType({"Tensor": "TT", "Scalar": "TS"}),
    **options: Any,
) -> Pointwise:
    """`NAME.Tensor(self, other)` and `NAME.Scalar(self, Scalar other)`, in place, out=. Lambdas say `a`, `b`.

    `overloads` maps an overload's name to its form: "TT", "TS" (other is a number), "ST" (self is a number: `2 - a`).
    """
    where = caller()
    options = {"inplace": True, "out": True} | options
    schemas = []
    for overload, form in overloads.items():
        extra = "*, Scalar alpha=1" if alpha else ""
        text = _joined(*_FORMS[form], args, extra)
        schemas.append(f"{name}{'.' + overload if overload else ''}({text}) -> Tensor")
    names = {"self": "a", "other": "b"} | {a.name: a.name for a in _arguments(where, args)}
    if alpha:
        names["alpha"] = "alpha"
    return _pointwise(where, schemas, names, ("self", "other"), None, kernel, options)


def compare(name: str, *, kernel: Lambda, **options: Any) -> Pointwise:
    """A binary operator whose result is bool: `NAME.Tensor`, `NAME.Scalar`, in place, out=."""
    where = caller()
    options = {"inplace": True, "out": True, "result": bool_result, **options}
    overloads: Mapping[str, str] = options.pop("overloads", {"Tensor": "TT", "Scalar": "TS"})
    schemas = [
        f"{name}{'.' + overload if overload else ''}({', '.join(_FORMS[form])}) -> Tensor"
        for overload, form in overloads.items()
    ]
    return _pointwise(where, schemas, {"self": "a", "other": "b"}, ("self", "other"), None, kernel, options)


def pointwise(
    *schemas: str,
    kernel: Lambda,
    operands: tuple[str, ...] | None = None,
    promoting: tuple[str, ...] | None = None,
    **options: Any,
) -> Pointwise:
    """Any elementwise operator by its schemas, which differ only in Tensor or Scalar operands; lambdas use their names.

    `operands`: arguments read elementwise (default: those that are a Tensor in some overload); `promoting`: those that
    decide the dtype (default: all operands).
    """
    where = caller()
    parsed = [_parse(where, s) for s in schemas]
    names: dict[str, str] = {}
    for schema in parsed:
        names |= {a.name: a.name for a in schema.inputs}
    if operands is None:
        tensors = {a.name for s in parsed for a in s.inputs if a.type.is_tensor}
        operands = tuple(name for name in names if name in tensors)
    return _pointwise(where, schemas, names, operands, promoting, kernel, options)


def _one(where: Where, schema: str, kind: type[E], own: dict[str, Any], options: dict[str, Any]) -> E:
    parsed = _parse(where, schema)
    entry = kind(**own, **_common(where, [parsed], options))
    if any(a.is_output for a in parsed.arguments):
        raise CatalogueError(where, "write the functional schema and say out=True")
    _check_grad(entry, {})
    return _register(entry)


def op(
    schema: str,
    *,
    kernel: str,
    structured: bool | None = None,
    alias_safe: bool = False,
    device_neutral: bool = False,
    on_meta: bool = False,
    **options: Any,
) -> Op:
    """One overload with a kernel in runtime/kernels/. In-place-only: `NAME_(Tensor(a!) self) -> Tensor(a!)`."""
    where = caller()
    if structured is None:
        structured = "(a!)" not in schema and not device_neutral and not on_meta
    own = dict(
        kernel=kernel, structured=structured, alias_safe=alias_safe, device_neutral=device_neutral, on_meta=on_meta
    )
    return _one(where, schema, Op, own, options)


def view(schema: str, *, kernel: str, **options: Any) -> View:
    """`NAME(Tensor(a) self, ...) -> Tensor(a)` or `-> Tensor(a)[]`: shares memory with self."""
    where = caller()
    if "(a" not in schema:
        raise CatalogueError(where, "a view marks what it shares: Tensor(a) self, and Tensor(a) in the result")
    return _one(where, schema, View, {"kernel": kernel}, options)


def composite(schema: str, *, kernel: str = "", body: Lambda | None = None, **options: Any) -> Composite:
    """Calls other operators; needs no derivative. Either `kernel` (C++ in runtime/composite/) or `body` (traced)."""
    where = caller()
    if bool(kernel) == (body is not None):
        raise CatalogueError(where, "a composite has either kernel= or body=")
    entry = _one(where, schema, Composite, {"kernel": kernel, "body": body}, options)
    arguments = [a.name for a in entry.schemas[0].arguments]
    _check_lambda(where, "body", body, [name + suffix for name in arguments for suffix in ("", "_sizes", "_dtype")])
    return entry


def discover() -> tuple[Entry, ...]:
    """All entries, in the order of files and lines."""
    root = Path(__file__).resolve().parent
    for path in sorted(root.rglob("*.py")):
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        if path.name != "__init__.py":
            importlib.import_module(module)
    entries = sorted(_declared, key=lambda e: (str(e.where.file), e.where.line))
    seen: dict[str, Entry] = {}
    for entry in entries:
        for schema in entry.schemas:
            other = seen.setdefault(schema.full_name, entry)
            if other is not entry:
                raise CatalogueError(entry.where, f"{schema.full_name} is declared at {other.where} too")
    return tuple(entries)

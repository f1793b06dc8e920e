"""Emits the loops of pointwise operators and fused derivatives, and the tables that find them.

There is one loop per body and compute type; loops that compute the same are the same. Floating loops are compiled for
every instruction set, integer and complex ones not for AVX-512, those that call scalar functions for the baseline.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue.dtypes import ALL, Result, complex_, floating, integral
from catalogue.kinds import Pointwise
from codegen import expr as ex
from codegen import primitives as p
from codegen.emit import loops
from codegen.expr import Expr, TraceError
from codegen.model import CatalogueError, Schema, Where
from codegen.render import render

PRESENT = ...  # in choices: the argument is given, and the lambda sees its value
NATIVE = {"f32": "Float32", "f64": "Float64", "i32": "Int32", "i64": "Int64", "u8": "UInt8", "u64": "UInt64"} | {
    "m8": "Bool", "m32": "Bool", "m64": "Bool", "c32": "Complex64", "c64": "Complex128",
}  # fmt: skip
AGNOSTIC = frozenset(
    ("param", "const", "complex", "where", "add", "sub", "mul", "neg", "eq", "ne")
    + ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
)
"""What unsigned and signed 64-bit integers compute alike."""
HOT_SIZE = 5
"""Integer bodies up to this many operations get loops of their own for int32 and uint8; others compute in int64."""
USE_DEFAULT, UNSUPPORTED = "kUseDefault", "kUnsupported"


@dataclass(frozen=True)
class FusedGrad:
    """A derivative as one kernel: `output` is an untyped trace over `inputs` (tensors) and `params` (numbers)."""

    name: str
    where: Where
    inputs: tuple[str, ...]
    params: tuple[str, ...]
    output: Expr
    masks: frozenset[str] = frozenset()  # inputs that are read as bool
    dtypes: frozenset[str] = floating | complex_


@dataclass(frozen=True)
class Row:
    compute: str
    native: str = "Bool"
    result: str = "Bool"
    loop: int = 0


@dataclass
class Table:
    """One PointwiseInfo: an entry with its choices made, or a fused derivative."""

    symbol: str
    name: str
    where: Where
    operands: list[int]
    params: list[int]
    followers: int
    masks: int
    rows: list[Row]
    choose: str = ""
    check: str = ""


@dataclass
class KernelPlan:
    """`info(x)`: the C++ symbol of x's PointwiseInfo; `files()`: what to write."""

    tables: dict[str, Table] = field(default_factory=dict)
    bodies: loops.Bodies = field(default_factory=loops.Bodies)
    choosers: list[str] = field(default_factory=list)
    symbols: dict[Any, str | None] = field(default_factory=dict)

    def info(self, x: Pointwise | FusedGrad) -> str | None:
        """Null for a derivative that no kernel can say: call its operators instead."""
        return self.symbols[id(x) if isinstance(x, Pointwise) else x.name]

    def files(self) -> dict[str, str]:
        return self.bodies.files() | {"pointwise.cpp": self._tables()}

    def _tables(self) -> str:
        rows: dict[str, str] = {}
        infos = []
        for t in self.tables.values():
            body = ",\n".join("  {" + ", ".join(_row(r)) + "}" for r in t.rows)
            name = rows.setdefault(body, f"rows_{t.symbol}")
            fields = [
                loops.quote(t.name),
                str(len(t.operands)),
                str(len(t.params)),
                f"{{{', '.join(map(str, t.operands))}}}",
                f"{{{', '.join(map(str, t.params))}}}",
                str(t.followers),
                str(t.masks),
                name,
                t.choose or "nullptr",
                f"checks::{t.check}" if t.check else "nullptr",
            ]
            infos.append(f"// {t.where.mark}\nconst PointwiseInfo {t.symbol} = {{{', '.join(fields)}}};")
        return render(
            "pointwise.cpp.in",
            rows=[f"const PointwiseRow {name}[kNumDTypes] = {{\n{body}}};" for body, name in rows.items()],
            declarations=[f"extern const PointwiseInfo {t.symbol};" for t in self.tables.values()],
            choosers=self.choosers,
            infos=infos,
        )


def _row(row: Row) -> list[str]:
    def code(name: str) -> str:
        return name if name.startswith("k") else f"of({name})"

    return [code(row.compute), code(row.native), code(row.result), str(row.loop)]


def plan(entries: Iterable[Any], fused: Iterable[FusedGrad] = ()) -> KernelPlan:
    result = KernelPlan()
    pointwise = [e for e in entries if isinstance(e, Pointwise)]
    ex.operators.update({e.name: e for e in reversed(pointwise)})
    for entry in pointwise:
        result.symbols[id(entry)] = _plan_entry(result, entry)
    for grad in fused:
        result.symbols[grad.name] = _plan_fused(result, grad)
    return result


# ---- entries


def _plan_entry(kernels: KernelPlan, entry: Pointwise) -> str:
    schema = entry.schemas[0]
    symbol = schema.cpp_name if len(entry.schemas) == 1 else schema.name
    if symbol in kernels.tables:
        symbol = schema.cpp_name
    arguments = [a.name for a in schema.inputs]
    choices = dict(entry.choices) | {n: (*numbers, PRESENT) for n, numbers in entry.special.items()}
    names = [a for a in arguments if a in choices]
    combinations = list(itertools.product(*(choices[n] for n in names)))
    first = None
    variants = []
    for i, values in enumerate(combinations):
        chosen = dict(zip(names, values, strict=True))
        table = _entry_table(kernels, entry, schema, symbol if i == 0 else f"{symbol}_{i}", chosen)
        kernels.tables[table.symbol] = table
        variants.append(table.symbol)
        first = first or table
    assert first is not None
    first.check = entry.check
    if len(variants) > 1:
        first.choose = f"choose_{symbol}"
        kernels.choosers.append(_chooser(entry, schema, symbol, {n: choices[n] for n in names}, variants))
    return symbol


def _entry_table(
    kernels: KernelPlan, entry: Pointwise, schema: Schema, symbol: str, chosen: Mapping[str, Any]
) -> Table:
    arguments = [a.name for a in schema.inputs]
    given = [n for n in arguments if chosen.get(n, PRESENT) is PRESENT]
    operands = [n for n in given if n in entry.operands]
    params = [n for n in given if n not in entry.operands]
    masks = set(entry.masks)
    types = {a.name: a.type.base for a in schema.inputs}
    real_params = [n for n in params if types[n] != "Scalar"]

    def trace(type: str) -> Expr:
        leaves = _leaves(type, operands, params, masks, real_params)
        values = [leaves[n] if n in leaves else chosen[n] for n in arguments]
        return ex.kernel_for(entry, type)(*values)

    rows = [
        _plan_row(kernels, entry.where, entry.name, trace, dtype, entry.dtypes, entry.result, operands, params, masks)
        for dtype in ALL
    ]
    return Table(
        symbol,
        entry.name,
        entry.where,
        [arguments.index(n) for n in operands],
        [arguments.index(n) for n in params],
        _bits(operands, set(operands) - set(entry.promoting)),
        _bits(operands, masks),
        rows,
    )


def _bits(names: list[str], chosen: Iterable[str]) -> int:
    return sum(1 << i for i, n in enumerate(names) if n in chosen)


def _leaves(
    type: str, operands: list[str], params: list[str], masks: Iterable[str], real_params: Iterable[str] = ()
) -> dict[str, Expr]:
    """Operands are called x0, x1 ..., parameters q0, q1 ..., so that equal bodies are equal traces."""
    mask = p.mask_of(p.COMPLEX.get(type, type))
    leaves = {}
    for i, name in enumerate(operands):
        leaves[name] = _leaf(f"x{i}", mask if name in masks else type)
    for i, name in enumerate(params):
        leaves[name] = _leaf(f"q{i}", p.COMPLEX.get(type, type) if name in real_params else type)
    return leaves


def _leaf(name: str, type: str) -> Expr:
    if type not in p.COMPLEX:
        return ex.param(name, type)
    part = p.COMPLEX[type]
    return Expr("complex", (ex.param(f"{name}_re", part), ex.param(f"{name}_im", part)), type=type)


def _plan_row(
    kernels: KernelPlan,
    where: Where,
    name: str,
    trace: Any,
    dtype: str,
    dtypes: frozenset[str],
    result: Result,
    operands: list[str],
    params: list[str],
    masks: Iterable[str],
) -> Row:
    whole = dtype in integral or dtype == "Bool"
    if result is Result.int_to_float and whole:
        return Row(USE_DEFAULT, USE_DEFAULT, USE_DEFAULT)
    if dtype not in dtypes:
        return Row(UNSUPPORTED)
    p.traced_dtype = dtype
    try:
        type, body = _trace_for(dtype, trace)
    except p.ComputeInInteger:
        return _plan_row(kernels, where, name, trace, "Int64", dtypes, result, operands, params, masks)
    except p.ComputeInFloat:
        return Row(USE_DEFAULT, USE_DEFAULT, USE_DEFAULT)
    except TraceError as error:
        raise CatalogueError(where, f"{name} for {dtype}: {error}") from None
    masked = [i for i, n in enumerate(operands) if n in masks]
    loop = kernels.bodies.add(f"{name}_{type}", where, type, body, len(operands), len(params), masked)
    native = NATIVE[body.type or ""]
    computed = NATIVE[type]
    if result is Result.bool_result or native == "Bool":
        given = "Bool"
    elif result in (Result.int_to_int64, Result.float_to_int64):
        given = "Int64"
    else:
        given = dtype if native == computed else native
    return Row(computed, native, given, loop)


def _trace_for(dtype: str, trace: Any) -> tuple[str, Expr]:
    """The compute type of a dtype, and the body in it."""
    fixed = {
        "Bool": "m8", "Float16": "f32", "BFloat16": "f32", "Float32": "f32", "Float64": "f64", "Complex64": "c32",
        "Complex128": "c64", "Int8": "i64", "Int16": "i64", "UInt16": "i64", "UInt32": "i64", "Int64": "i64",
    }  # fmt: skip
    if dtype in fixed:
        return fixed[dtype], _whole(trace(fixed[dtype]), fixed[dtype])
    body = _whole(trace("i64"), "i64")
    if dtype == "UInt64":
        if all(n.op in AGNOSTIC for n in ex.nodes(body)):
            return "i64", body
        return "u64", _whole(trace("u64"), "u64")
    own = {"Int32": "i32", "UInt8": "u8"}[dtype]
    operations = [n for n in ex.nodes(body) if n.op not in ("param", "const")]
    if len(operations) <= HOT_SIZE and all(n.op not in loops.PER_LANE for n in operations):
        return own, _whole(trace(own), own)
    return "i64", body


def _whole(body: Any, type: str) -> Expr:
    """Lambdas may return a Python number."""
    if isinstance(body, bool):
        return p.constant(body, p.mask_of(p.COMPLEX.get(type, type)))
    return body if isinstance(body, Expr) and body.type is not None else p.convert(body, type)


def _chooser(
    entry: Pointwise, schema: Schema, symbol: str, choices: Mapping[str, tuple[Any, ...]], variants: list[str]
) -> str:
    """A C++ function from the attributes to the table, and errors for strings that none knows."""
    arguments = [a.name for a in schema.inputs]
    lines = [f"const PointwiseInfo& choose_{symbol}(const Value* args) {{", "  int k = 0;"]
    for name, values in choices.items():
        arg = f"args[{arguments.index(name)}]"
        lines.append(f"  k = k * {len(values)} + ([&] {{")
        for i, value in enumerate(values):
            if value is None:
                test = f"{arg}.is_none()"
            elif value is PRESENT:
                test = f"!{arg}.is_none()"
            elif isinstance(value, str):
                test = f"!{arg}.is_none() && {arg}.string() == {loops.quote(value)}"
            elif name in entry.special:
                test = f"is_special(args[0], {arg}, {value})"
            else:
                test = f"({arg}.i != 0) == {str(bool(value)).lower()}"
            lines.append(f"    if ({test}) return {i};")
        shown = " or ".join(repr(v) for v in values if v is not PRESENT)
        if any(isinstance(v, str) for v in values):
            text = f"{entry.name}: argument {name!r} must be {shown}, not "
            lines.append(f'    fail({loops.quote(text)}, {arg}.is_none() ? std::string_view("None") : {arg}.string());')
        else:
            lines.append(f"    fail({loops.quote(f'{entry.name}: unexpected value of argument {name!r}')});")
        lines.append("  }());")
    lines.append(f"  static const PointwiseInfo* const variants[] = {{{', '.join('&' + v for v in variants)}}};")
    lines.append("  return *variants[k];\n}\n")
    return "\n".join(lines)


# ---- derivatives


def _plan_fused(kernels: KernelPlan, grad: FusedGrad) -> str | None:
    operands, params = list(grad.inputs), list(grad.params)

    def trace(type: str) -> Expr:
        body = ex.lower(grad.output, _leaves(type, operands, params, grad.masks))
        body = _whole(body, type)
        if body.type in p.MASKS:
            raise TraceError("a derivative that is a mask")
        return body

    rows = []
    for dtype in ALL:
        if dtype not in floating | complex_ or dtype not in grad.dtypes:
            rows.append(Row(UNSUPPORTED))
            continue
        try:
            row = _plan_row(
                kernels, grad.where, grad.name, trace, dtype, grad.dtypes, Result.same, operands, params, grad.masks
            )
        except CatalogueError:
            if dtype in floating:
                return None
            row = Row(UNSUPPORTED)
        rows.append(row)
    kernels.tables[grad.name] = Table(
        grad.name,
        grad.name,
        grad.where,
        list(range(len(operands))),
        [len(operands) + i for i in range(len(params))],
        _bits(operands, grad.masks),
        _bits(operands, grad.masks),
        rows,
    )
    return grad.name

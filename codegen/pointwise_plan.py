"""Plans the loops of pointwise operators and fused derivatives: traces lambdas, decides what each dtype computes in.

There is one loop per body and compute type; loops that compute the same are the same. The text of both is written by
emit/pointwise.py and emit/loops.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue.dtypes import ALL, Result, complex_, floating, integral
from catalogue.kinds import Pointwise
from codegen import expr as ex
from codegen import primitives as p
from codegen.expr import Expr, NotPointwise, TraceError
from codegen.model import CatalogueError, Schema, Where

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
PER_LANE = frozenset({"idiv", "irem", "scalar"})
"""What has no vector instruction for int32 and smaller."""
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
class Loop:
    """A body in one compute type: `masked` are the operands that are read as bool."""

    name: str
    index: int
    where: Where
    type: str
    body: Expr
    operands: int
    masked: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """What happens for one common dtype: PointwiseRow."""

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
    chooser: Chooser | None = None
    check: str = ""
    row_major: bool = False


@dataclass(frozen=True)
class Chooser:
    """How strings, flags and absent arguments select one of an entry's tables."""

    entry: Pointwise
    arguments: list[str]
    choices: dict[str, tuple[Any, ...]]
    variants: list[str]


@dataclass
class KernelPlan:
    """`info(x)`: the C++ symbol of x's PointwiseInfo. Loops are numbered in the order in which they are asked for."""

    tables: dict[str, Table] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    symbols: dict[Any, str | None] = field(default_factory=dict)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def info(self, x: Pointwise | FusedGrad) -> str | None:
        """Null for a derivative that no kernel can say: call its operators instead."""
        return self.symbols[id(x) if isinstance(x, Pointwise) else x.name]

    def unfused(self) -> list[str]:
        """Derivatives of pointwise operators that no kernel can say."""
        return [name for name, symbol in self.symbols.items() if symbol is None]

    def add_loop(self, source: Source, type: str, body: Expr) -> int:
        """The number of the loop that computes body; 1 is the first, 0 is none."""
        masked = tuple(i for i, n in enumerate(source.operands) if n in source.masks)
        key = (id(body), type, len(source.operands), len(source.params), masked)
        if key in self._known:
            return self._known[key]
        index = self._known[key] = len(self._known) + 1
        name = f"{source.name}_{type}"
        count = self._names[name] = self._names.get(name, 0) + 1
        if count > 1:
            name = f"{name}_{count}"
        self.loops.append(Loop(name, index, source.where, type, body, len(source.operands), masked))
        return index


@dataclass(frozen=True)
class Source:
    """A lambda of an entry or a fused derivative, with its choices made: `trace(type)` gives the body."""

    name: str
    where: Where
    trace: Callable[[str], Expr]
    dtypes: frozenset[str]
    result: Result
    operands: list[str]
    params: list[str]
    masks: frozenset[str]


def plan_kernels(entries: Iterable[Any], fused: Iterable[FusedGrad] = ()) -> KernelPlan:
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
        first.chooser = Chooser(entry, arguments, {n: choices[n] for n in names}, variants)
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

    source = Source(
        entry.name, entry.where, trace, entry.dtypes, entry.result, operands, params, frozenset(entry.masks)
    )
    rows = []
    for dtype in ALL:
        try:
            row = _plan_row(kernels, source, dtype)
        except TraceError as error:
            raise CatalogueError(entry.where, f"{entry.name} for {dtype}: {error}") from None
        rows.append(row)
    return Table(
        symbol,
        entry.name,
        entry.where,
        [arguments.index(n) for n in operands],
        [arguments.index(n) for n in params],
        _bits(operands, set(operands) - set(entry.promoting)),
        _bits(operands, masks),
        rows,
        row_major=entry.row_major,
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


def _plan_row(kernels: KernelPlan, source: Source, dtype: str) -> Row:
    whole = dtype in integral or dtype == "Bool"
    if source.result is Result.int_to_float and whole:
        return Row(USE_DEFAULT, USE_DEFAULT, USE_DEFAULT)
    if dtype not in source.dtypes:
        return Row(UNSUPPORTED)
    p.traced_dtype = dtype
    try:
        type, body = _trace_for(dtype, source.trace)
    except p.ComputeInInteger:
        return _plan_row(kernels, source, "Int64")
    except p.ComputeInFloat:
        return Row(USE_DEFAULT, USE_DEFAULT, USE_DEFAULT)
    loop = kernels.add_loop(source, type, body)
    native = NATIVE[body.type or ""]
    computed = NATIVE[type]
    if source.result is Result.bool_result or native == "Bool":
        given = "Bool"
    elif source.result in (Result.int_to_int64, Result.float_to_int64):
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
    if len(operations) <= HOT_SIZE and all(n.op not in PER_LANE for n in operations):
        return own, _whole(trace(own), own)
    return "i64", body


def _whole(body: Any, type: str) -> Expr:
    """Lambdas may return a Python number."""
    if isinstance(body, bool):
        return p.constant(body, p.mask_of(p.COMPLEX.get(type, type)))
    return body if isinstance(body, Expr) and body.type is not None else p.convert(body, type)


# ---- derivatives


def _plan_fused(kernels: KernelPlan, grad: FusedGrad) -> str | None:
    operands, params = list(grad.inputs), list(grad.params)

    def trace(type: str) -> Expr:
        body = ex.lower(grad.output, _leaves(type, operands, params, grad.masks))
        body = _whole(body, type)
        if body.type in p.MASKS:
            raise NotPointwise("a derivative that is a mask")
        return body

    source = Source(grad.name, grad.where, trace, grad.dtypes, Result.same, operands, params, grad.masks)
    rows = []
    for dtype in ALL:
        if dtype not in floating | complex_ or dtype not in grad.dtypes:
            rows.append(Row(UNSUPPORTED))
            continue
        try:
            row = _plan_row(kernels, source, dtype)
        except NotPointwise:
            return None
        except TraceError as error:
            if dtype in floating:
                raise CatalogueError(grad.where, f"{grad.name} for {dtype}: {error}") from None
            row = Row(UNSUPPORTED)  # not every primitive has a complex form
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

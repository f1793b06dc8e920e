"""Evaluates typed traces with NumPy: an entry's kernel as its own oracle, in float64 or complex128."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from codegen import expr as ex
from codegen import primitives as p
from codegen.expr import Expr, TraceError

NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u64": np.uint64} | {
    "m8": np.bool_, "m32": np.bool_, "m64": np.bool_,
}  # fmt: skip


def _scalar(name: str) -> Callable[..., Any]:
    function = getattr(math, name, None)
    if function is None:
        raise TraceError(f"no Python function for {name!r}")

    def safe(*args: float) -> float:
        try:
            return float(function(*args))
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(safe, otypes=[float])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fma": lambda a, b, c: a * b + c,
    "scale": lambda a, n: np.ldexp(a, n.astype(np.int64)),
    "bound": lambda a, low, high: np.where(np.isnan(a), a, np.minimum(np.maximum(a, low), high)),
    "with_sign": np.copysign,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.invert,
    "where": np.where,
    "fmod": np.fmod,
    "to_floating": lambda a: a.astype(np.float64),
    "to_integer": lambda a: a.astype(np.int64),
}


def evaluate(root: Expr, values: Mapping[str, Any]) -> Any:
    """The value of a typed trace; `values` gives its parameters."""
    known: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in ex.nodes(root):
            args = [known[a] for a in node.args if isinstance(a, Expr)]
            known[node] = _value(node, args, values)
    return known[root]


def _value(node: Expr, args: list[Any], values: Mapping[str, Any]) -> Any:
    options = dict(node.kwargs)
    if node.op == "param":
        return np.asarray(values[node.args[0]], dtype=NUMPY[node.type or ""])
    if node.op == "const":
        return np.asarray(node.args[0], dtype=NUMPY[node.type or ""])
    if node.op == "complex":
        return args[0] + 1j * args[1]
    if node.op == "bitcast":
        return args[0].view(NUMPY[options["to"]])
    if node.op == "shift_left":
        return np.left_shift(args[0], options["count"])
    if node.op == "shift_right":
        return np.right_shift(args[0], options["count"])
    if node.op == "scalar":
        return _scalar(options["function"])(*args)
    if node.op == "rare":
        return np.where(args[0], _scalar(options["function"])(*args[2:]), args[1])
    if node.op not in FUNCTIONS:
        raise TraceError(f"{node.op!r} cannot be evaluated")
    return FUNCTIONS[node.op](*args)


def evaluate_entry(entry: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A pointwise entry called with numbers or arrays."""
    schema = entry.schemas[0]
    given = dict(zip((a.name for a in schema.inputs), args, strict=False)) | dict(kwargs)
    is_complex = any(np.iscomplexobj(v) for k, v in given.items() if k in entry.promoting)
    leaves: list[Any] = []
    values: dict[str, Any] = {}
    for argument in schema.inputs:
        name, value = argument.name, given.get(argument.name, argument.default)
        if name in entry.choices and (value is None or isinstance(value, (str, bool))):
            leaves.append(value)
        elif name in entry.masks:
            leaves.append(ex.param(name, "m64"))
            values[name] = value
        elif is_complex:
            parts = ex.param(f"{name}_re", "f64"), ex.param(f"{name}_im", "f64")
            leaves.append(Expr("complex", parts, type="c64"))
            values |= {f"{name}_re": np.real(value), f"{name}_im": np.imag(value)}
        else:
            leaves.append(ex.param(name, "f64"))
            values[name] = value
    body = ex.kernel_for(entry, "c64" if is_complex else "f64")(*leaves)
    return evaluate(body if isinstance(body, Expr) else p.convert(body, "f64"), values)

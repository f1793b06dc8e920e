"""The closed set of primitives of typed traces, with their type rules. Their C++ is in runtime/simd.

Types: f32 f64 i32 i64 u8 u64 are vectors of numbers; m32 m64 m8 are masks (the truth of lanes of that width); c32 c64
are pairs (re, im) of f32 or f64, which never reach the C++: complex_expr.py takes them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from codegen.expr import Expr, TraceError, call

FLOATING = frozenset({"f32", "f64"})
INTEGER = frozenset({"i32", "i64", "u8", "u64"})
MASKS = frozenset({"m8", "m32", "m64"})
COMPLEX = {"c32": "f32", "c64": "f64"}


def bits(type: str) -> int:
    return int(type[1:])


def mask_of(type: str) -> str:
    return f"m{bits(type)}"


def common_type(exprs: Iterable[Expr]) -> str | None:
    """The type that operands meet in: complex over real over mask."""
    rank = {"m": 0, "c": 2}
    types = [e.type for e in exprs if e.type is not None]
    return max(types, key=lambda type: rank.get(type[0], 1), default=None)


def constant(value: Any, type: str | None) -> Expr:
    if type is None:
        return Expr("const", (value,))
    if type in COMPLEX:
        re, im = (value.real, value.imag) if isinstance(value, complex) else (value, 0.0)
        return Expr("complex", (constant(re, COMPLEX[type]), constant(im, COMPLEX[type])), type=type)
    if isinstance(value, complex):
        raise TraceError("a complex constant in a real kernel")
    if type in FLOATING:
        return Expr("const", (float(value),), type=type)
    if type in MASKS:
        return Expr("const", (bool(value),), type=type)
    if value != int(value):
        raise TraceError(f"the constant {value} in an integer kernel")
    return Expr("const", (int(value),), type=type)


def convert(value: Any, type: str | None) -> Expr:
    """A constant, mask or real as `type`; values of that type stay."""
    if not isinstance(value, Expr):
        return constant(value, type)
    if value.type == type or type is None:
        return value
    if value.op == "const":
        return constant(value.args[0], type)
    if value.type in MASKS and type not in COMPLEX and type not in MASKS:
        return where(value, constant(1, type), constant(0, type))
    if type in COMPLEX and value.type not in COMPLEX:
        re = convert(value, COMPLEX[type])
        return Expr("complex", (re, constant(0.0, COMPLEX[type])), type=type)
    raise TraceError(f"a value of type {value.type} where {type} is needed")


def unify(*values: Any) -> tuple[str, list[Expr]]:
    type = common_type(v for v in values if isinstance(v, Expr))
    if type is None:
        raise TraceError("a primitive without typed operands")
    return type, [convert(v, type) for v in values]


def is_const(e: Expr, *values: Any) -> bool:
    return e.op == "const" and (not values or e.args[0] in values)


class ComputeInFloat(Exception):
    """Raised by an integer lambda: the operands are to become the default floating dtype."""


class ComputeInInteger(Exception):
    """Raised by a boolean lambda: the operands are to become int64."""


def as_integer(a: Expr) -> Expr:
    """The boolean lambda of an entry that counts: True is 1."""
    raise ComputeInInteger


Rule = Callable[..., Expr]
PRIMITIVES: dict[str, Rule] = {}


def primitive(rule: Rule) -> Rule:
    PRIMITIVES[rule.__name__.rstrip("_")] = rule
    return rule


def _same(name: str, allowed: frozenset[str]) -> Rule:
    def rule(*values: Any) -> Expr:
        type, args = unify(*values)
        if type not in allowed:
            raise TraceError(f"{name} is not defined for {type}")
        return Expr(name, args, type=type)

    PRIMITIVES[name] = rule
    return rule


NUMBERS = FLOATING | INTEGER
div = _same("div", FLOATING)
idiv = _same("idiv", INTEGER)  # towards zero; x / 0 is 0, INT_MIN / -1 wraps
irem = _same("irem", INTEGER)  # its remainder, 0 for x % 0
fma = _same("fma", FLOATING)  # a * b + c; rounded once where the processor can
fmod_ = _same("fmod", FLOATING)  # the exact remainder of a / b towards zero
sqrt = _same("sqrt", FLOATING)
floor = _same("floor", FLOATING)
ceil = _same("ceil", FLOATING)
trunc = _same("trunc", FLOATING)
round = _same("round", FLOATING)  # half to even
neg_ = _same("neg", NUMBERS)
abs_ = _same("abs", NUMBERS)
bitwise_left_shift = _same("bitwise_left_shift", INTEGER)  # 0 beyond the width
bitwise_right_shift = _same("bitwise_right_shift", INTEGER)  # all sign bits beyond the width
low_bits = _same("low_bits", FLOATING)  # keeps the upper half of a significand: low_bits(x) * low_bits(y) is exact


scale = _same("scale", FLOATING)  # a * 2^b for whole b
bound = _same("bound", FLOATING)  # at least b, at most c; NaN stays
with_sign = _same("with_sign", FLOATING)  # a, not negative, with the sign of b


def _arithmetic(name: str) -> Rule:
    def rule(left: Any, right: Any) -> Expr:
        type, (a, b) = unify(left, right)
        if type in MASKS and name in ("add", "mul"):
            return (bitwise_or if name == "add" else bitwise_and)(a, b)
        if type not in NUMBERS:
            raise TraceError(f"{name} is not defined for {type}")
        if name == "mul" and is_const(b, 1) or name == "sub" and is_const(b, 0):
            return a
        if name == "mul" and is_const(a, 1):
            return b
        if is_const(a) and is_const(b):
            x, y = a.args[0], b.args[0]
            return constant({"add": x + y, "sub": x - y, "mul": x * y}[name], type)
        return Expr(name, (a, b), type=type)

    PRIMITIVES[name] = rule
    return rule


add = _arithmetic("add")
sub = _arithmetic("sub")
mul = _arithmetic("mul")


def _compare(name: str) -> Rule:
    def rule(left: Any, right: Any) -> Expr:
        type, (a, b) = unify(left, right)
        if type in MASKS:
            a, b = (
                ((bitwise_not(a), b) if name in ("lt", "le", "eq") else (a, bitwise_not(b))) if name != "ne" else (a, b)
            )
            return {"lt": bitwise_and, "gt": bitwise_and, "le": bitwise_or, "ge": bitwise_or}.get(name, bitwise_xor)(
                a, b
            )
        if a is b and type in INTEGER:
            return constant(name in ("eq", "le", "ge"), mask_of(type))
        return Expr(name, (a, b), type=mask_of(type))

    PRIMITIVES[name] = rule
    return rule


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _compare(_name)


def _junction(name: str, neutral: bool) -> Rule:
    general = _same(name, INTEGER | MASKS)

    def rule(a: Any, b: Any) -> Expr:
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Expr) and x.type in MASKS and x.op == "const":
                return y if x.args[0] is neutral else x
        return general(a, b)

    PRIMITIVES[name] = rule
    return rule


bitwise_and = _junction("bitwise_and", True)
bitwise_or = _junction("bitwise_or", False)
bitwise_xor = _same("bitwise_xor", INTEGER | MASKS)
bitwise_not = _same("bitwise_not", INTEGER | MASKS)


def _extreme(name: str, of_masks: Rule) -> Rule:
    """NaN if either operand is."""

    def rule(left: Any, right: Any) -> Expr:
        type, (a, b) = unify(left, right)
        return of_masks(a, b) if type in MASKS else Expr(name, (a, b), type=type)

    PRIMITIVES[name] = rule
    return rule


minimum = _extreme("minimum", bitwise_and)
maximum = _extreme("maximum", bitwise_or)


def truth(value: Expr) -> Expr:
    """A mask: value != 0."""
    if value.type in MASKS:
        return value
    if value.type in COMPLEX:
        re, im = value.args
        return bitwise_or(truth(re), truth(im))
    return PRIMITIVES["ne"](value, 0)


PRIMITIVES["truth"] = truth


@primitive
def where(condition: Any, left: Any, right: Any) -> Expr:
    type, (a, b) = unify(left, right)
    if is_const(condition):
        return a if condition.args[0] else b
    condition = truth(condition)
    if a is b:
        return a
    if type in MASKS:
        return bitwise_or(bitwise_and(condition, a), bitwise_and(bitwise_not(condition), b))
    return Expr("where", (condition, a, b), type=type)


@primitive
def bitcast(a: Expr, type: str) -> Expr:
    """The same bits as another type of the same width."""
    return Expr("bitcast", (a,), (("to", type),), type)


@primitive
def to_integer(a: Expr) -> Expr:
    """Floating to the integer of the same width, towards zero; what does not fit gives the least integer, as on x86."""
    return Expr("to_integer", (a,), type="i" + (a.type or "")[1:])


@primitive
def to_floating(a: Expr) -> Expr:
    """Integer to the floating type of the same width, rounded to nearest."""
    return Expr("to_floating", (a,), type="f" + (a.type or "")[1:])


@primitive
def shift_left(a: Expr, count: int) -> Expr:
    """By a constant below the width."""
    return Expr("shift_left", (a,), (("count", count),), a.type)


@primitive
def shift_right(a: Expr, count: int) -> Expr:
    return Expr("shift_right", (a,), (("count", count),), a.type)


@primitive
def scalar(function: str, *args: Any) -> Expr:
    """One call of a C++ function of runtime/simd/scalar_math.h per lane: for functions that loop on their data."""
    type, operands = unify(*args)
    return Expr("scalar", operands, (("function", function),), type)


@primitive
def rare(condition: Expr, function: str, args: tuple[Expr, ...], otherwise: Expr) -> Expr:
    """`otherwise`, but in lanes where `condition` (seldom true) holds the value of a scalar function of the args."""
    return Expr("rare", (truth(condition), otherwise, *args), (("function", function),), otherwise.type)


def number(condition: Any, like: Expr) -> Expr:
    """1 where the condition holds, else 0, of the type of `like`."""
    return where(condition, constant(1, like.type), constant(0, like.type))


def is_complex(a: Expr) -> bool:
    return a.type in COMPLEX


def real_part(a: Expr) -> Expr:
    return a.args[0] if is_complex(a) else a


def imaginary_part(a: Expr) -> Expr:
    return a.args[1] if is_complex(a) else constant(0, a.type)


PRIMITIVES["real"] = real_part
PRIMITIVES["imag"] = imaginary_part


def sign_bit(a: Expr) -> Expr:
    """A mask: whether the sign bit is set, of -0 and NaN too."""
    return call("lt", bitcast(a, "i" + (a.type or "")[1:]), 0)


def copy_sign(a: Any, b: Any) -> Expr:
    _, (a, b) = unify(a, b)
    return with_sign(abs_(a), b)


traced_dtype = ""
"""The dtype whose loop is being traced, which a half type does not share with the type it computes in."""


def largest(a: Expr) -> float:
    """The largest finite number of the dtype that is traced."""
    halves = {"Float16": 65504.0, "BFloat16": 3.3895313892515355e38}
    return halves.get(traced_dtype) or {"f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}[a.type or ""]


@primitive
def complex_(re: Expr, im: Expr) -> Expr:
    type, args = unify(re, im)
    return Expr("complex", args, type={"f32": "c32", "f64": "c64"}[type])


def in_double(body: Callable[..., Expr], *args: Expr) -> Expr:
    """body(*args) for f64; for f32 the same on both halves as f64, rounded back."""
    if args[0].type != "f32":
        return body(*args)
    inner = body(*(Expr("param", (f"w{i}",), type="f64") for i in range(len(args))))
    return Expr("in_double", args, (("body", inner),), "f32")


def polynomial(x: Expr, coefficients: Iterable[float]) -> Expr:
    """Horner's scheme; the constant term first."""
    coefficients = list(coefficients)
    result = constant(coefficients[-1], x.type)
    for c in reversed(coefficients[:-1]):
        result = fma(result, x, constant(c, x.type))
    return result


def named(name: str) -> Rule:
    """A function for catalogue files: `where(condition, a, b)` in traced and typed lambdas alike."""
    return lambda *args: call(name, *args)

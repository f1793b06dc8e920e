"""Complex arithmetic of typed traces, over pairs of real expressions: loops deinterleave and compute real vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codegen import primitives as p
from codegen.expr import Expr, TraceError, call


def parts(value: Any) -> tuple[Any, Any]:
    """(re, im); the imaginary part of a real is None."""
    if isinstance(value, Expr) and value.type in p.COMPLEX:
        return value.args
    if isinstance(value, Expr) and value.op == "const":
        value = value.args[0]
    if isinstance(value, complex):
        return value.real, value.imag
    return value, None


def make(re: Any, im: Any) -> Expr:
    type, (re, im) = p.unify(re, im)
    return Expr("complex", (re, im), type={"f32": "c32", "f64": "c64"}[type])


def add(a: Any, b: Any) -> Expr:
    (ar, ai), (br, bi) = parts(a), parts(b)
    return make(p.add(ar, br), bi if ai is None else ai if bi is None else p.add(ai, bi))


def sub(a: Any, b: Any) -> Expr:
    (ar, ai), (br, bi) = parts(a), parts(b)
    return make(p.sub(ar, br), p.neg_(bi) if ai is None else ai if bi is None else p.sub(ai, bi))


def mul(a: Any, b: Any) -> Expr:
    (ar, ai), (br, bi) = parts(a), parts(b)
    if ai is None or bi is None:
        return make(p.mul(ar, br), p.mul(ar, bi) if ai is None else p.mul(ai, br))
    if a is b:
        return make(p.sub(p.mul(ar, ar), p.mul(ai, ai)), p.mul(p.add(ar, ar), ai))
    return make(p.sub(p.mul(ar, br), p.mul(ai, bi)), p.add(p.mul(ar, bi), p.mul(ai, br)))


def div(a: Any, b: Any) -> Expr:
    """Scaled by the larger part of the divisor, so that its square does not overflow; infinite by 0, 0 by infinity."""
    (ar, ai), (br, bi) = parts(a), parts(b)
    if bi is None:
        return make(p.div(ar, br), p.div(ai, br))
    scale = p.maximum(p.abs_(br), p.abs_(bi))
    infinite, zero = call("eq", scale, float("inf")), call("eq", scale, 0.0)
    c, d = (_direction(part, scale, infinite) for part in (br, bi))
    norm = p.mul(p.add(p.mul(c, c), p.mul(d, d)), scale)
    if ai is None:
        re, im = p.mul(ar, c), p.neg_(p.mul(ar, d))
        ai = 0.0
    else:
        re, im = p.add(p.mul(ar, c), p.mul(ai, d)), p.sub(p.mul(ai, c), p.mul(ar, d))
    return make(
        p.where(zero, p.div(ar, scale), p.div(re, norm)),
        p.where(zero, p.div(ai, scale), p.div(im, norm)),
    )


def _direction(part: Expr, scale: Expr, infinite: Expr) -> Expr:
    """The part over the larger one; of an infinite divisor, the sign of what is infinite."""
    unit = p.copy_sign(p.where(call("eq", p.abs_(part), float("inf")), 1.0, p.mul(part, 0.0)), part)
    return p.where(infinite, unit, p.div(part, scale))


def absolute(a: Expr) -> Expr:
    """Scaled by the larger part; infinite if a part is, else NaN if a part is."""
    re, im = p.abs_(a.args[0]), p.abs_(a.args[1])
    big, small = p.maximum(re, im), p.minimum(re, im)
    ratio = p.div(small, big)
    length = p.mul(big, p.sqrt(p.fma(ratio, ratio, 1.0)))
    infinite = p.bitwise_or(call("eq", re, float("inf")), call("eq", im, float("inf")))
    return p.where(infinite, float("inf"), p.where(call("eq", big, 0.0), big, length))


def equal(a: Any, b: Any) -> Expr:
    (ar, ai), (br, bi) = parts(a), parts(b)
    ai, bi = (0.0 if ai is None else ai), (0.0 if bi is None else bi)
    return p.bitwise_and(call("eq", ar, br), call("eq", ai, bi))


def where(condition: Any, a: Any, b: Any) -> Expr:
    type = p.common_type(v for v in (a, b) if isinstance(v, Expr))
    if type not in p.COMPLEX:
        return p.where(p.truth(condition), a, b)
    (ar, ai), (br, bi) = parts(p.convert(a, type)), parts(p.convert(b, type))
    condition = p.truth(condition)
    return make(p.where(condition, ar, br), p.where(condition, ai, bi))


def _undefined(name: str) -> Callable[..., Expr]:
    def rule(*args: Any) -> Expr:
        raise TraceError(f"{name} is not defined for complex numbers")

    return rule


RULES: dict[str, Callable[..., Expr]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": lambda a: make(p.neg_(a.args[0]), p.neg_(a.args[1])),
    "abs": absolute,
    "eq": equal,
    "ne": lambda a, b: p.bitwise_not(equal(a, b)),
    "where": where,
    "truth": p.truth,
    "real": p.real_part,
    "imag": p.imaginary_part,
}
RULES |= {
    name: _undefined(name)
    for name in ("lt", "le", "gt", "ge", "minimum", "maximum", "floor", "ceil", "trunc", "round", "fma")
}

"""Elementary functions as expressions over the primitives, for kernels (typed traces of f32 and f64).

Coefficients come from tools/minimax.py. float32 functions without a short form of their own are computed through f64
vectors (`in_double`). Bounds on errors, in units in the last place, are tested in tests/catalogue/test_math.py.
"""

from __future__ import annotations

import math
from typing import Any

from codegen.expr import Expr
from codegen.primitives import (
    bitcast,
    bitwise_and,
    bound,
    copy_sign,
    fma,
    in_double,
    maximum,
    minimum,
    polynomial,
    rare,
    round,
    scalar,
    scale,
    shift_left,
    shift_right,
    sign_bit,
    sqrt,
    to_floating,
    where,
)

INF = math.inf
NAN = math.nan
LN2 = 0.6931471805599453
# LN2 in parts: the first so short that whole multiples of it are exact.
LN2_PARTS = {"f32": (0.693145751953125, 1.428606765330187e-06), "f64": (0.6931471805582987, 1.6465949582897082e-12)}


def by_type(x: Expr, f32: Any, f64: Any) -> Any:
    return f32 if x.type == "f32" else f64


# ---- steps between numbers


def nextafter(a: Expr, b: Expr) -> Expr:
    """The bits of a number count up as its magnitude grows."""
    integer = by_type(a, "i32", "i64")
    bits = bitcast(a, integer)
    value = bitcast(where((b > a) == (a > 0), bits + 1, bits - 1), a.type or "")
    value = where(a == 0, copy_sign(bitcast(bits * 0 + 1, a.type or ""), b), value)
    return where(a == b, b, where((a != a) | (b != b), NAN, value))


# ---- exponentials

# (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2
EXP_TAIL = {
    "f32": (0.4999999340344237, 0.1666651997350267, 0.04166839579163327, 0.008368796681390235, 0.0013814433361611185),
    "f64": (
        0.5000000000000011, 0.1666666666666641, 0.04166666666652894, 0.008333333333495922, 0.0013888888943997721,
        0.0001984126950429991, 2.4801492676623597e-05, 2.7557587590488276e-06, 2.763041197494856e-07,
        2.4999940689126908e-08,
    ),
}  # fmt: skip


def _reduced(x: Expr) -> tuple[Expr, Expr]:
    """(n, r) with x = n ln(2) + r, n whole, |r| <= ln(2) / 2."""
    n = round(x * (1 / LN2))
    high, low = LN2_PARTS[x.type or ""]
    return n, fma(n, -low, fma(n, -high, x))


def _expm1_reduced(r: Expr) -> Expr:
    return fma(r * r, polynomial(r, EXP_TAIL[r.type or ""]), r)


def exp(x: Expr) -> Expr:
    x = bound(x, *by_type(x, (-104.0, 89.0), (-746.0, 710.0)))
    n, r = _reduced(x)
    return scale(_expm1_reduced(r) + 1, n)


def exp2(x: Expr) -> Expr:
    x = bound(x, *by_type(x, (-151.0, 129.0), (-1080.0, 1025.0)))
    n = round(x)
    return scale(_expm1_reduced((x - n) * LN2) + 1, n)


def expm1(x: Expr) -> Expr:
    """2^n (exp(r) - 1) + (2^n - 1)"""
    x = bound(x, *by_type(x, (-104.0, 89.0), (-746.0, 710.0)))
    n, r = _reduced(x)
    half = scale(x * 0 + 1, n - 1)  # 2^n itself may overflow where the result does not
    power, small = half + half, _expm1_reduced(r)
    value = where(n > 60, fma(half, small, half) * 2, fma(power, small, power - 1))
    return where(x == 0, x, value)


def sigmoid(x: Expr) -> Expr:
    e = exp(-abs(x))
    d = e + 1
    quotient = where(sign_bit(x), e, 1.0) / d
    return fma(quotient * (e - (d - 1)), -0.9, quotient)  # for what rounding took from d


TANH_TAIL = (-0.3333332110904502, 0.1333235404555477, -0.053723295924424944, 0.01942353291586307)  # |x| <= 0.35


def tanh(x: Expr) -> Expr:
    """t / (t + 2) for t = exp(2 |x|) - 1: nothing cancels. Near 0 float32 has a short form."""
    a = bound(abs(x), 0.0, by_type(x, 10.0, 20.0))
    n, r = _reduced(a + a)
    power = scale(a * 0 + 1, n)
    t = fma(power, _expm1_reduced(r), power - 1)
    value = copy_sign(t / (t + 2), x)
    if x.type == "f64":
        return value
    z = x * x
    return where(a < 0.35, fma(z * x, polynomial(z, TANH_TAIL), x), value)


# ---- logarithms

LOG_TAIL = (  # (log(1 + f) - f + f^2 / 2) / f^3 on [1 / sqrt(2) - 1, sqrt(2) - 1]
    0.33333331783984865, -0.25000821671989143, 0.20001220691618274, -0.16623327282280603, 0.14201883202189783,
    -0.13160634799283444, 0.1276085475788273, -0.07632272894511814,
)  # fmt: skip
LOG_ODD = (  # (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2
    0.6666666666666735, 0.3999999999941313, 0.2857142874276622, 0.22222198531121878, 0.18183566669468998,
    0.15313986773712987, 0.1479662444433649,
)  # fmt: skip


def _split(x: Expr) -> tuple[Expr, Expr]:
    """(e, m) with x = 2^e m and m in [1 / sqrt(2), sqrt(2)), for normal x > 0."""
    integer, bits, half_root = by_type(x, ("i32", 23, 0x3F3504F3), ("i64", 52, 0x3FE6A09E667F3BCD))
    shifted = bitcast(x, integer) - half_root
    e = shift_right(shifted, bits)
    fraction = bitwise_and(shifted, (1 << bits) - 1)
    return to_floating(e), bitcast(fraction + half_root, x.type or "")


def _log1p_reduced(f: Expr) -> tuple[Expr, Expr]:
    """log(1 + f) as a sum: f and what is left."""
    if f.type == "f32":
        square = f * f
        return f, fma(square * f, polynomial(f, LOG_TAIL), square * -0.5)
    s = f / (f + 2)
    z = s * s
    half_square = f * f * 0.5
    return f, s * (half_square + z * polynomial(z, LOG_ODD)) - half_square


def _special_log(x: Expr, value: Expr) -> Expr:
    """The ends of a logarithm's domain."""
    value = where(x == INF, INF, value)
    value = where(x == 0, -INF, value)
    return where((x < 0) | (x != x), NAN, value)


def log(x: Expr) -> Expr:
    tiny = x < by_type(x, 2.0**-126, 2.0**-1022)
    shift = by_type(x, 24, 54)
    e, m = _split(where(tiny, x * 2.0**shift, x))
    e = where(tiny, e - shift, e)
    f, rest = _log1p_reduced(m - 1)
    high, low = LN2_PARTS[x.type or ""]
    return _special_log(x, fma(e, high, f + fma(e, low, rest)))


def log1p(x: Expr) -> Expr:
    """log(u) for u = 1 + x, and u's rounding error made good."""
    u = x + 1
    e, m = _split(u)
    error = where(x > 1, 1 - (u - x), x - (u - 1)) / u
    f, rest = _log1p_reduced(where(e == 0, x, m - 1))
    high, low = LN2_PARTS[x.type or ""]
    value = fma(e, high, f + fma(e, low, rest + where(e == 0, 0.0, error)))
    value = where(x == 0, x, value)  # keeps -0
    return where(x == INF, INF, where(x == -1, -INF, where(x < -1, NAN, where(x != x, x, value))))


def _log_parts(x: Expr) -> tuple[Expr, Expr]:
    """(e, log(m)) with x = 2^e m, in double."""
    tiny = x < 2.0**-1022
    e, m = _split(where(tiny, x * 2.0**54, x))
    f, rest = _log1p_reduced(m - 1)
    return where(tiny, e - 54, e), f + rest


def log2(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        e, rest = _log_parts(x)
        return _special_log(x, fma(rest, 1 / LN2, e))

    return in_double(body, x)


def log10(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        e, rest = _log_parts(x)
        # log10(2) in two parts, the first short.
        return _special_log(x, fma(e, 0.3010299956640665, fma(e, -8.532344317057107e-14, rest * (1 / math.log(10)))))

    return in_double(body, x)


# ---- circular functions

SIN_TAIL = (
    -0.16666666666666632, 0.00833333333332242, -0.00019841269829813264, 2.755731369389276e-06, -2.5050758436383397e-08,
    1.5896814917327253e-10,
)  # fmt: skip
COS_TAIL = (
    0.0416666666666666, -0.0013888888888874133, 2.4801587289487944e-05, -2.7557314354070406e-07, 2.087572351880056e-09,
    -1.1359660978379754e-11,
)  # fmt: skip
HALF_PI_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
FAR = 1e5
"""Up to here multiples of the first two parts are exact; arguments beyond go to the C library."""


def sin_cos(x: Expr) -> tuple[Expr, Expr, Expr]:
    """(quadrant as bits, sin(r), cos(r)) for x = quadrant pi / 2 + r."""
    magic = 6755399441055744.0
    shifted = fma(x, 2 / math.pi, magic)
    n = shifted - magic
    a, b, c = HALF_PI_PARTS
    r = fma(n, -c, fma(n, -b, fma(n, -a, x)))
    z = r * r
    sine = fma(z * r, polynomial(z, SIN_TAIL), r)
    cosine = fma(z * z, polynomial(z, COS_TAIL), fma(z, -0.5, 1.0))
    return bitcast(shifted, "i64"), sine, cosine


def is_odd(quadrant: Expr) -> Expr:
    return bitwise_and(quadrant, 1) != 0


def _flip(value: Expr, quadrant: Expr) -> Expr:
    """-value where bit 1 of the quadrant is set."""
    return bitcast(bitcast(value, "i64") ^ shift_left(bitwise_and(quadrant, 2), 62), "f64")


def sin(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        quadrant, sine, cosine = sin_cos(x)
        value = _flip(where(is_odd(quadrant), cosine, sine), quadrant)
        return rare(~(abs(x) < FAR), "sin", (x,), where(x == 0, x, value))

    return in_double(body, x)


def cos(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        quadrant, sine, cosine = sin_cos(x)
        value = _flip(where(is_odd(quadrant), sine, cosine), quadrant + 1)
        return rare(~(abs(x) < FAR), "cos", (x,), value)

    return in_double(body, x)


def tan(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        quadrant, sine, cosine = sin_cos(x)
        odd = is_odd(quadrant)
        value = where(odd, -cosine, sine) / where(odd, sine, cosine)
        return rare(~(abs(x) < FAR), "tan", (x,), where(x == 0, x, value))

    return in_double(body, x)


# ---- inverse circular functions

ATAN_TAIL = (  # (atan(t) - t) / t^3 in t^2, |t| <= tan(pi / 8)
    -0.333333333333332, 0.19999999999954066, -0.14285714280246659, 0.11111110786041309, -0.09090897833568787,
    0.07692061584185322, -0.06663119764444309, 0.05848004289004864, -0.05039824157921993, 0.03807776643592394,
    -0.017921659661288197,
)  # fmt: skip
ASIN_TAIL = (  # (asin(t) - t) / t^3 in t^2, |t| <= 1 / 2
    0.16666666666666763, 0.07499999999970093, 0.04464285717529065, 0.030381942675088792, 0.02237221591062972,
    0.01735159542509525, 0.013981019332023259, 0.01139728725696424, 0.010789350134340467, 0.0036720868186164443,
    0.021790862829585506, -0.021116995822748074, 0.03270231922131356,
)  # fmt: skip


def _atan_quotient(y: Expr, x: Expr) -> Expr:
    """atan(y / x) for y, x >= 0, in [0, pi / 2]."""
    root = math.tan(math.pi / 8)
    steep, middle = y > x * (1 / root), y > x * root
    t = where(steep, -x, where(middle, y - x, y)) / where(steep, y, where(middle, y + x, x))
    z = t * t
    value = fma(z * t, polynomial(z, ATAN_TAIL), t)
    return where(steep, math.pi / 2, where(middle, math.pi / 4, x * 0)) + value


def atan(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        value = _atan_quotient(abs(x), x * 0 + 1)
        return copy_sign(where(abs(x) == INF, math.pi / 2, value), x)

    return in_double(body, x)


ATAN_SHORT = (  # ATAN_TAIL for float32, on |t| <= 1
    -0.33333298563957214, 0.19998548924922943, -0.14264240860939026, 0.10952185094356537, -0.0840344950556755,
    0.05795757845044136, -0.031177831813693047, 0.010914599522948265, -0.0017936204094439745,
)  # fmt: skip


def _atan2_magnitude(a: Expr, b: Expr) -> Expr:
    """The angle of the point (b, a) in the first quadrant, for float32."""
    low, high = minimum(a, b), maximum(a, b)
    t = where(high == 0, 0.0, where(low == INF, 1.0, low / high))
    z = t * t
    value = fma(z * t, polynomial(z, ATAN_SHORT), t)
    return where(a > b, math.pi / 2 - (value + 4.371139000186241e-08), value)  # what float32 adds to pi / 2


def _atan2_magnitude_double(a: Expr, b: Expr) -> Expr:
    infinite = (a == INF) & (b == INF)
    value = _atan_quotient(where(infinite, 1.0, a), where(infinite, 1.0, b))
    return where(a == 0, 0.0, where((b == INF) & ~infinite, 0.0, where((a == INF) & ~infinite, math.pi / 2, value)))


def atan2(y: Expr, x: Expr) -> Expr:
    value = by_type(x, _atan2_magnitude, _atan2_magnitude_double)(abs(y), abs(x))
    value = where(sign_bit(x), math.pi - value, value)
    return where((x != x) | (y != y), NAN, copy_sign(value, y))


def asin(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        a = abs(x)
        big = a > 0.5
        z = where(big, (1 - a) * 0.5, a * a)
        t = where(big, sqrt(z), a)
        value = fma(z * t, polynomial(z, ASIN_TAIL), t)
        return copy_sign(where(big, math.pi / 2 - (value + value), value), x)

    return in_double(body, x)


def acos(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        a = abs(x)
        big = a > 0.5
        z = where(big, (1 - a) * 0.5, a * a)
        t = where(big, sqrt(z), a)
        value = fma(z * t, polynomial(z, ASIN_TAIL), t)
        twice = value + value
        near_one = where(x < 0, math.pi - twice, twice)
        return where(big, near_one, math.pi / 2 - copy_sign(value, x))

    return in_double(body, x)


# ---- hyperbolic functions


SINH_TAIL = (0.1666666716337204, 0.008333350530756878, 0.0001983606634894386, 2.8174395083624404e-06)  # |x| <= 1


def sinh(x: Expr) -> Expr:
    a = abs(x)
    if x.type == "f32":
        z = x * x
        n, r = _reduced(bound(a, 0.0, 91.0))
        half = scale(_expm1_reduced(r) + 1, n - 1)  # exp(a) / 2, which overflows where the result does
        return where(a < 1, fma(z * x, polynomial(z, SINH_TAIL), x), copy_sign(half - 0.25 / half, x))
    t = expm1(minimum(a, 709.0))
    value = (t + t / (t + 1)) * 0.5
    # exp(709) is nearly the largest number; beyond it exp(a / 2) twice.
    e = exp(a * 0.5)
    return copy_sign(where(a > 709, e * 0.5 * e, value), x)


def cosh(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        e = exp(abs(x) * 0.5)
        return fma(e * 0.5, e, 0.5 / e / e)

    return in_double(body, x)


def asinh(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        a = abs(x)
        square = a * a
        value = log1p(a + square / (sqrt(square + 1) + 1))
        return copy_sign(where(a > 1e8, log(a) + LN2, value), x)

    return in_double(body, x)


def acosh(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        t = x - 1
        value = log1p(t + sqrt(t * t + (t + t)))
        return where(x < 1, NAN, where(x > 1e8, log(x) + LN2, value))

    return in_double(body, x)


ATANH_TAIL = (  # (atanh(t) - t) / t^3 in t^2, |t| <= 1 / 2
    0.33333336169967687, 0.19999719381936706, 0.14295063870856214, 0.10964675608416084, 0.10297756852946408,
    0.02407626808486916, 0.1764580032704929,
)  # fmt: skip


def atanh(x: Expr) -> Expr:
    a = abs(x)
    if x.type == "f32":
        z = x * x
        far = copy_sign(log((1 + a) / (1 - a)) * 0.5, x)
        return where(a < 0.5, fma(z * x, polynomial(z, ATANH_TAIL), x), far)
    return copy_sign(log1p((a + a) / (1 - a)) * 0.5, x)


# ---- short forms in double, for results that are rounded to float32

EXP_SHORT = (
    0.5000000067659177, 0.16666665869715191, 0.0416662950353623, 0.008333496902501267, 0.0013944652863101296,
    0.00019790430338263945,
)  # fmt: skip
LOG_SHORT = (  # LOG_TAIL within 2^-38
    0.33333333399202425, -0.25000001125601845, 0.19999989257171627, -0.1666653246978968, 0.14286179306265784,
    -0.12505713306878743, 0.11105466688030233, -0.09889385214489364, 0.09040246973301529, -0.09286984839816279,
    0.0911555773081846, -0.048223343471612855,
)  # fmt: skip


def exp_short(x: Expr) -> Expr:
    n, r = _reduced(bound(x, -746.0, 710.0))
    return scale(fma(r * r, polynomial(r, EXP_SHORT), r) + 1, n)


def log_short(x: Expr) -> Expr:
    """For x >= 0 that is not denormal; infinity and NaN stay."""
    e, m = _split(x)
    f = m - 1
    square = f * f
    value = fma(e, LN2, fma(square * f, polynomial(f, LOG_SHORT), fma(square, -0.5, f)))
    return where(x == 0, -INF, where(x < INF, value, x))


# ---- powers


def power(x: Expr, y: Expr) -> Expr:
    """exp(y log|x|) in double for float32; in float64 the C library's, whose logarithm has the extra digits."""
    if x.type == "f64":
        return scalar("pow", x, y)

    def body(x: Expr, y: Expr) -> Expr:
        value = exp_short(y * log_short(abs(x)))
        whole, half = round(y) == y, y * 0.5
        odd = whole & (round(half) != half)
        value = where((x < 0) & ~whole & (x != -INF), NAN, value)
        value = where(odd & sign_bit(x), -value, value)
        return where((y == 0) | (x == 1) | ((x == -1) & (abs(y) == INF)), 1.0, value)

    return in_double(body, x, y)


def softplus(x: Expr) -> Expr:
    """log(1 + exp(x))"""
    return maximum(x, 0) + log1p(exp(-abs(x)))

"""Error functions and the gamma function as expressions over the primitives; what math.py says of those holds here."""

from __future__ import annotations

import math

from catalogue.math import INF, NAN, by_type, exp, exp_short, is_odd, log, log_short, sin_cos
from codegen.expr import Expr
from codegen.primitives import bound, constant, copy_sign, fma, in_double, polynomial, rare, round, scalar, sqrt, where

# ---- error functions

ERF_NEAR = {  # erf(t) / t - 1 in t^2, |t| <= 0.93 and 1
    "f32": (
        0.1283791666423342, -0.3761263369714624, 0.11283693942700262, -0.02685927081293622, 0.005200634371423137,
        -0.0008137438250593775, 8.345227583634358e-05,
    ),
    "f64": (
        0.1283791670955126, -0.3761263890318375, 0.11283791670954885, -0.02686617064507787, 0.005223977624828391,
        -0.0008548326981423712, 0.00012055331132903915, -1.4925595771246237e-05, 1.6461008467214712e-06,
        -1.635039615177325e-07, 1.466032848915569e-08, -1.137495567037095e-09, 5.960686483963108e-11,
    ),
}  # fmt: skip
ERFC_LOG = {  # log(erfc(t)) on [0.93, 3.93] and [1, 6]
    "f32": (
        0.00017845150715247178, -1.1295331445544423, -0.6333098853941146, -0.10832106047854359, 0.025146071511399047,
        -0.004181238158836632, 0.00043657432441121004, -2.1278700904612143e-05,
    ),
    "f64": (
        -2.9408805519819775e-08, -1.1283788992690564, -0.6366208129537146, -0.10277058137796742, 0.019127559137801408,
        0.00020304924408611234, -0.0016758408156104492, 0.0005531685669425435, 2.141474285078883e-05,
        -0.00011043358420612214, 6.459440966589218e-05, -2.4216175583406233e-05, 6.764346940864025e-06,
        -1.4648305772485038e-06, 2.471967895757151e-07, -3.2055000427047143e-08, 3.0928564689383685e-09,
        -2.0935638082668533e-10, 8.87335871185475e-12, -1.77159733327533e-13,
    ),
}  # fmt: skip


def erf(x: Expr) -> Expr:
    middle, end = by_type(x, (0.93, 3.93), (1.0, 6.0))
    a, z = abs(x), x * x
    near = fma(x, polynomial(z, ERF_NEAR[x.type or ""]), x)
    far = 1 - exp(polynomial(bound(a, 0.0, end), ERFC_LOG[x.type or ""]))
    return where(a < middle, near, copy_sign(far, x))


ERF_QUOTIENT = (  # erf(t) / t in t^2, |t| <= 3.93: numerator and denominator
    (1.1283791065216064, 0.1907840371131897, 0.05279018357396126, 0.0037795729003846645, 0.0002848001313395798,
     2.0418749500095146e-06),
    (1.0, 0.5024106502532959, 0.11425748467445374, 0.014997383579611778, 0.0011651888489723206,
     3.8002624933142215e-05),
)  # fmt: skip


def erf_short(x: Expr) -> Expr:
    """erf within 4e-7 in float32, in half the time."""
    if x.type == "f64":
        return erf(x)
    x = bound(x, -3.93, 3.93)
    z = x * x
    above, below = (polynomial(z, c) for c in ERF_QUOTIENT)
    return x * above / below


ERFC_SCALED = (  # exp(a^2) erfc(a) in t = 1 / (1 + a / 2), 0 <= a <= 10.5
    -5.899356059231799e-07, 0.28211710329676004, 0.28171810538953507, 0.250588040919793, 0.15168478187877427,
    0.19563703790133896, -0.365135003359154, 0.7709712455136686, -1.3796566973304507, 1.401164736261071,
    -0.8097805130901178, 0.25519709238178867, -0.03450533990290543,
)  # fmt: skip


ERFCX = (  # (1 + 2 a) exp(a^2) erfc(a) in (a - 4) / (a + 4) for a >= 0
    1.2329951186255526, -0.13962111684056228, 0.015379652102619974, 0.06809705425466839, -0.10103906603631811,
    0.09373283499911264, -0.06633036581186058, 0.037167515526338006, -0.01619773406293477, 0.005031970069102256,
    -0.0007577732435942576, -0.0001992571524726518, 0.00015062142608651945, -2.4397731143023292e-05,
    -1.1221135665965907e-05, 5.70657829924074e-06, 2.9173425573089733e-07, -8.210647933297337e-07,
    7.771943241086912e-08, 1.0631817593818149e-07, -2.0725802488181963e-08, -1.2338731403798444e-08,
    3.2323973445082033e-09, 9.297625263709659e-10, -2.764120233734578e-10,
)  # fmt: skip


def _scaled_erfc(a: Expr) -> Expr:
    """exp(a^2) erfc(a) for a >= 0 in f64."""
    t = 1 - 8 / (a + 4)
    return polynomial(t, ERFCX) / (1 + 2 * a)


def _exp_of_square(x: Expr, sign: int) -> Expr:
    """exp(sign x^2) for |x| < 30, without what rounding the square would cost."""
    square = x * x
    return exp(sign * square) * (1 + sign * fma(x, x, -square))


def erfcx(x: Expr) -> Expr:
    def body(x: Expr) -> Expr:
        value = _scaled_erfc(abs(x))
        return where(x < 0, 2 * _exp_of_square(bound(x, -27.0, 0.0), 1) - value, value)

    return in_double(body, x)


def erfc(x: Expr) -> Expr:
    if x.type == "f64":
        a = bound(abs(x), 0.0, 28.0)
        value = _exp_of_square(a, -1) * _scaled_erfc(a)
        return where(x < 0, 2 - value, value)

    def body(x: Expr) -> Expr:
        a = bound(abs(x), 0.0, 10.5)
        value = exp_short(-a * a) * polynomial(1 / fma(a, 0.5, 1.0), ERFC_SCALED)
        return where(x < 0, 2 - value, value)

    return in_double(body, x)


ERFINV_NEAR = (  # erfinv(x) / x in w - 2.5 for w = -log(1 - x^2) <= 5
    1.501409351110792, 0.246640276744167, -0.004177317724383624, -0.0012527079078110321, 0.00021825026434406123,
    -4.996079598850206e-06, -3.416619596565087e-06, 4.787252185239e-07, 1.3416803755242823e-08,
    -1.0861168938287872e-08, 9.073036495405582e-10, 1.1960698817209524e-10, -3.110278672226475e-11,
    9.115660381671943e-13, 5.356343166393055e-13, -7.612669130138496e-14, -2.8811110175240593e-15,
    1.896729354143592e-15, -1.3661917890666732e-16, -2.6828646429085144e-17, 4.909393921888345e-18,
    1.700908089393591e-19, -6.890747263782666e-20,
)  # fmt: skip
ERFINV_MIDDLE = (  # the same in sqrt(w) - 3.218, w <= 4.2^2
    3.051722948932262, 1.004903369845879, 0.005746906449476271, -0.004088038854692951, 0.0027766173581613273,
    -0.0018789764919054834, 0.0010333082701881825, -0.0003584822425660027, 2.118616116663064e-06,
    8.410751224430039e-05, -5.147146450900563e-05, 1.1003078221925524e-05, 4.729540010360208e-06,
    -4.6483917310922334e-06, 1.4589073608483915e-06, 1.1913458462239125e-07, -3.1454935362310687e-07,
    1.3672208119577843e-07, -1.6205858324064056e-08, -1.6026121146926768e-08, 1.1498726365778027e-08,
    -2.408779730153248e-09, -9.161546919499151e-10, 5.503744806505471e-10, -6.493366444862493e-11,
)  # fmt: skip
ERFINV_FAR = (  # and in sqrt(w) - 5.2, w <= 6.2^2
    5.051959340939588, 1.0102214561847231, -0.0002509707306338949, -0.00016143426653813188, 5.877435174987135e-05,
    -1.499369739516567e-05, 3.354869633207815e-06, -7.023752830450267e-07, 1.4442824149991173e-07,
    -3.25473396512839e-08, 1.0123197115374147e-08, -4.377673261678108e-09, 1.970061854012555e-09,
    -1.1051931677095973e-09, 6.812392718679318e-10, -2.00562008980543e-10,
)  # fmt: skip


def _erfinv_slope(w: Expr) -> tuple[Expr, Expr]:
    """erfinv(x) / x from w = -log(1 - x^2), and whether w is beyond what the polynomials cover."""
    s = sqrt(w)
    far = where(s < 4.2, polynomial(s - 3.218, ERFINV_MIDDLE), polynomial(s - 5.2, ERFINV_FAR))
    return where(w < 5, polynomial(w - 2.5, ERFINV_NEAR), far), s > 6.2


ERFINV_SHORT_NEAR = (  # erfinv(x) / x in w - 2.5 for w = -log(1 - x^2) <= 5
    1.5014093516925022, 0.24664027578566974, -0.004177324636132482, -0.001252704876934327, 0.00021826355739749977,
    -4.9987597378223464e-06, -3.4260121223273702e-06, 4.796988524816265e-07, 1.6457222941682322e-08,
    -1.1023215300262729e-08, 4.3703160384572426e-10, 1.3285912087584386e-10,
)  # fmt: skip
ERFINV_SHORT_FAR = (  # the same in sqrt(w) - 3, w <= 17
    2.832976799914382, 1.0016752400514972, 0.00944541851297957, -0.007642816037223326, 0.005686343881945802,
    -0.003566665277611393, 0.001480738143579527, -0.00012223899001449155, -0.0002872403499816492,
    0.00016558037802545607, -2.346009880089033e-05, -3.90477808211833e-06,
)  # fmt: skip


def _erfinv_slope_short(w: Expr) -> tuple[Expr, Expr]:
    """The same for float32."""
    slope = where(w < 5, polynomial(w - 2.5, ERFINV_SHORT_NEAR), polynomial(sqrt(w) - 3, ERFINV_SHORT_FAR))
    return slope, w > 17


def erfinv(x: Expr) -> Expr:
    slope_of, log_of = by_type(x, (_erfinv_slope_short, log_short), (_erfinv_slope, log))

    def body(x: Expr) -> Expr:
        a = abs(x)
        slope, _ = slope_of(-log_of((1 - a) * (1 + a)))
        return where(a < 1, x * slope, where(a == 1, copy_sign(x * 0 + INF, x), NAN))

    return in_double(body, x)


def ndtri(x: Expr) -> Expr:
    slope_of, log_of = by_type(x, (_erfinv_slope_short, log_short), (_erfinv_slope, log))

    def body(p: Expr) -> Expr:
        slope, is_beyond = slope_of(-log_of(4 * p * (1 - p)))
        value = rare(is_beyond, "ndtri", (p,), math.sqrt(2) * (2 * p - 1) * slope)
        return where((p >= 0) & (p <= 1), value, NAN)

    return in_double(body, x)


# ---- the gamma function

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # in 1 / y^2, over y
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)  # in 1 / y^2, over y^2
HALF_LOG_TWO_PI = 0.9189385332046727


def lgamma(x: Expr) -> Expr:
    """Stirling's series from 8 on; below by gamma(y) y (y + 1) ... = gamma(y + 8), left of 0 by reflection."""
    if x.type == "f64":
        return scalar("lgamma", x)

    def body(x: Expr) -> Expr:
        left = x < 0
        y = where(left, 1 - x, x)
        product = y
        for k in range(1, 8):
            product = product * (y + k)
        small = y < 8
        y = where(small, y + 8, y)
        series = fma(y - 0.5, log(y), polynomial(1 / (y * y), STIRLING) / y - y + HALF_LOG_TWO_PI)
        product = where(small, product, 1.0)
        quadrant, sine, cosine = sin_cos((x - round(x)) * math.pi)
        sine = where(is_odd(quadrant), cosine, sine)
        rest = log(where(left, abs(product * math.pi / sine), product))
        value = where(left, rest - series, series - rest)
        value = where((x == 1) | (x == 2), 0.0, value)
        return where((abs(x) == INF) | ((x <= 0) & (x == round(x))), INF, value)

    return in_double(body, x)


def digamma(x: Expr) -> Expr:
    """The asymptotic series from 8 on; below by digamma(y + 1) = digamma(y) + 1 / y, left of 0 by reflection."""

    def body(x: Expr) -> Expr:
        left = x < 0
        y = where(left, 1 - x, x)
        # 1 / y + 1 / (y + 1) + ... as one fraction
        above, below = constant(0.0, y.type), constant(1.0, y.type)
        for k in range(8):
            above, below = fma(above, y + k, below), below * (y + k)
        small = y < 8
        y = where(small, y + 8, y)
        rest = where(small, above / below, 0.0)
        z = 1 / (y * y)
        value = log(y) - 0.5 / y - z * polynomial(z, DIGAMMA) - rest
        r = x - round(x)
        quadrant, sine, cosine = sin_cos(r * math.pi)
        odd = is_odd(quadrant)
        cotangent = where(odd, -sine, cosine) / where(odd, cosine, sine)
        value = where(left, value - where(abs(r) == 0.5, 0.0, math.pi * cotangent), value)
        value = where(left & (r == 0), NAN, value)
        return where(x == 0, copy_sign(x * 0 + INF, -x), where(x == INF, x, value))

    return in_double(body, x)

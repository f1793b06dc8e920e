"""Special functions in double precision against mpmath, SciPy and exact sums; their values at the ends."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
import scipy.special

import vivace as torch

INF, NAN = math.inf, math.nan
SIGNED = [
    0.0,
    1e-30,
    1e-5,
    0.3,
    0.9999,
    1.0,
    1.3,
    1.499,
    1.501,
    2.0,
    3.7,
    5.999,
    6.001,
    8.999,
    9.001,
    14.2,
    29.9,
    30.1,
    55.0,
    300.0,
]
POSITIVE = [x for x in SIGNED if x > 0]
BOTH = SIGNED + [-x for x in SIGNED]


def _scaled(function, sign):
    return lambda x: function(x) * mp.exp(sign * abs(x))


UNARY = {
    "erfinv": (mp.erfinv, [-0.7, 1e-300, 1e-5, 0.3, 0.9, 0.99, 0.997, 0.9999999, 0.99999999, 1 - 2.0**-53], 1e-14),
    "erfc": (mp.erfc, [x for x in BOTH if x < 26], 1e-14),
    "digamma": (mp.digamma, [*POSITIVE, -0.5, -3.7, -20.25, -1e-5, 1e5, 1e300], 1e-14),
    "i0": (lambda x: mp.besseli(0, x), BOTH, 1e-14),
    "i1": (lambda x: mp.besseli(1, x), BOTH, 1e-14),
    "i0e": (_scaled(lambda x: mp.besseli(0, x), -1), BOTH, 1e-14),
    "i1e": (_scaled(lambda x: mp.besseli(1, x), -1), BOTH, 1e-14),
    "modified_bessel_i0": (lambda x: mp.besseli(0, x), BOTH, 1e-14),
    "modified_bessel_i1": (lambda x: mp.besseli(1, x), BOTH, 1e-14),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), POSITIVE, 1e-13),
    "modified_bessel_k1": (lambda x: mp.besselk(1, x), POSITIVE, 1e-13),
    "scaled_modified_bessel_k0": (_scaled(lambda x: mp.besselk(0, x), 1), POSITIVE, 1e-13),
    "scaled_modified_bessel_k1": (_scaled(lambda x: mp.besselk(1, x), 1), POSITIVE, 1e-13),
    "bessel_j0": (lambda x: mp.besselj(0, x), BOTH, 1e-13),
    "bessel_j1": (lambda x: mp.besselj(1, x), BOTH, 1e-13),
    "bessel_y0": (lambda x: mp.bessely(0, x), POSITIVE, 1e-13),
    "bessel_y1": (lambda x: mp.bessely(1, x), POSITIVE, 1e-13),
    "spherical_bessel_j0": (lambda x: mp.sinc(x), BOTH, 1e-13),
    "airy_ai": (mp.airyai, [x for x in BOTH if abs(x) < 100], 1e-10),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [x for x in BOTH if x > -26], 1e-14),
    "ndtr": (mp.ncdf, [x for x in BOTH if x > -35], 1e-12),
    "log_ndtr": (lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), [x for x in BOTH if x < 7], 1e-13),
    "ndtri": (
        lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
        [1e-300, 1e-20, 1e-16, 1e-9, 1e-7, 1e-5, 0.003, 0.01, 0.2, 0.25, 0.3, 0.499, 0.5001, 0.8, 0.99, 1 - 1e-10],
        1e-13,
    ),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    exact, points, tolerance = UNARY[name]
    got = getattr(torch.special, name)(torch.tensor(points, dtype=torch.float64)).tolist()
    with mp.workdps(800 if name == "ndtri" else 60):
        want = [float(exact(mp.mpf(x))) for x in points]
    for x, y, w in zip(points, got, want, strict=True):
        assert y == pytest.approx(
            w, rel=tolerance, abs=1e-14 if name.startswith(("bessel", "sph", "airy", "digamma")) else 0
        ), x


def test_unary_limits() -> None:
    def value(name: str, x: float) -> float:
        return getattr(torch.special, name)(torch.tensor(x, dtype=torch.float64)).item()

    limits = {
        "bessel_j0": (0, 0), "bessel_j1": (0, 0), "bessel_y0": (0, NAN), "bessel_y1": (0, NAN), "i0": (INF, INF),
        "i1": (INF, -INF), "i0e": (0, 0), "i1e": (0, 0), "modified_bessel_k0": (0, NAN),
        "scaled_modified_bessel_k1": (0, NAN), "spherical_bessel_j0": (0, 0), "airy_ai": (0, 0), "erfcx": (0, INF),
        "ndtr": (1, 0), "log_ndtr": (0, -INF), "ndtri": (NAN, NAN),
    }  # fmt: skip
    for name, (right, left) in limits.items():
        assert value(name, INF) == pytest.approx(right, nan_ok=True), name
        assert value(name, -INF) == pytest.approx(left, nan_ok=True), name
        assert math.isnan(value(name, NAN)), name
    for name in ("bessel_y0", "bessel_y1"):
        assert value(name, 0.0) == -INF and math.isnan(value(name, -1.0))
    for name in ("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0"):
        assert value(name, 0.0) == INF and math.isnan(value(name, -1.0))
    assert [value("ndtri", x) for x in (0.0, 1.0)] == [-INF, INF] and math.isnan(value("ndtri", 1.5))
    assert value("erfcx", -30.0) == INF


def test_zeta() -> None:
    x = [1.0001, 1.5, 2.0, 3.0, 10.0, 50.0, 200.0]
    q = [1e-3, 0.5, 1.0, 3.3, 9.9, 12.0, 100.0, 1e6]
    got = torch.special.zeta(torch.tensor(x, dtype=torch.float64)[:, None], torch.tensor(q, dtype=torch.float64))
    for row, a in zip(got.tolist(), x, strict=True):
        for y, b in zip(row, q, strict=True):
            assert y == pytest.approx(float(mp.zeta(mp.mpf(a), mp.mpf(b))), rel=1e-12), (a, b)
    value = lambda a, b: torch.special.zeta(torch.tensor(a, dtype=torch.float64), b).item()
    for a, b in ((2, -0.5), (3, -0.5), (3, -7.3), (4, -1000.25)):
        below = sum(mp.mpf(1) / (mp.mpf(b) + k) ** a for k in range(2000))
        assert value(float(a), b) == pytest.approx(float(below + mp.zeta(a, mp.mpf(b) + 2000)), rel=1e-12), (a, b)
    assert value(1.0, 0.5) == value(2.0, -3.0) == INF
    assert math.isnan(value(0.5, 1.0)) and math.isnan(value(2.5, -0.5))
    assert value(2.0, -1e15 + 0.5) == pytest.approx(float(2 * mp.zeta(2, mp.mpf("0.5"))), rel=1e-12)


@pytest.mark.parametrize("n", range(6))
def test_polygamma(n: int) -> None:
    points = [0.1, 0.5, 1.0, 2.5, 11.0, 300.0, -0.5, -3.3, -20.25]
    got = torch.polygamma(n, torch.tensor(points, dtype=torch.float64)).tolist()
    for x, y in zip(points, got, strict=True):
        with mp.workdps(40):
            assert y == pytest.approx(float(mp.polygamma(n, mp.mpf(x))), rel=1e-11), x
    x = torch.tensor(points, dtype=torch.float64)
    assert x.polygamma(n).tolist() == x.clone().polygamma_(n).tolist() == got


def test_incomplete_gamma() -> None:
    a = [1e-6, 0.1, 0.5, 1.0, 3.0, 9.9, 10.1, 55.0, 1e3, 2e5, 1e7]
    ratios = [1e-3, 0.3, 0.9, 0.999, 1.0, 1.001, 1.1, 3.0, 20.0]
    pairs = [(p, p * r) for p in a for r in ratios] + [(0.1, 1.05), (0.9, 1.1), (0.5, 1e-20), (2.0, 700.0)]
    first, second = (torch.tensor(column, dtype=torch.float64) for column in zip(*pairs, strict=True))
    lower, upper = torch.igamma(first, second).tolist(), torch.special.gammaincc(first, second).tolist()
    for (a, x), low, up in zip(pairs, lower, upper, strict=True):
        assert low == pytest.approx(scipy.special.gammainc(a, x), rel=1e-10, abs=1e-300), (a, x)
        assert up == pytest.approx(scipy.special.gammaincc(a, x), rel=1e-10, abs=1e-300), (a, x)


def test_incomplete_gamma_at_the_ends() -> None:
    cases = {(0, 1): 1, (1, 0): 0, (INF, 1): 0, (1, INF): 1, (0, 0): NAN, (-1, 1): NAN, (1, -1): NAN, (INF, INF): NAN}
    for (a, x), want in cases.items():
        pair = torch.tensor(float(a)), torch.tensor(float(x))
        assert torch.igamma(*pair).item() == pytest.approx(want, nan_ok=True), (a, x)
        assert torch.igammac(*pair).item() == pytest.approx(1 - want, nan_ok=True), (a, x)
    huge = torch.tensor(1e300, dtype=torch.float64)
    assert torch.igamma(huge, huge).item() == pytest.approx(0.5)
    a = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
        torch.igamma(a, torch.tensor(1.0)).backward()


def _second_kind(x: Fraction, n: int) -> Fraction:
    return sum((-1) ** k * math.comb(n - k, k) * (2 * x) ** (n - 2 * k) for k in range(n // 2 + 1)) if n >= 0 else 0


def _first_kind(x: Fraction, n: int) -> Fraction:
    return (_second_kind(x, n) - _second_kind(x, n - 2)) / (2 if n else 1)


def _hermite(x: Fraction, n: int, scale: Fraction) -> Fraction:
    """The sum of scale^m x^(n - 2m) n! / (m! (n - 2m)!)"""
    factor = math.factorial
    return sum(
        Fraction(factor(n), factor(m) * factor(n - 2 * m)) * scale**m * x ** (n - 2 * m) for m in range(n // 2 + 1)
    )


POLYNOMIALS = {
    "chebyshev_polynomial_t": _first_kind,
    "chebyshev_polynomial_u": _second_kind,
    "chebyshev_polynomial_v": lambda x, n: _second_kind(x, n) - _second_kind(x, n - 1),
    "chebyshev_polynomial_w": lambda x, n: _second_kind(x, n) + _second_kind(x, n - 1),
    "shifted_chebyshev_polynomial_t": lambda x, n: _first_kind(2 * x - 1, n),
    "shifted_chebyshev_polynomial_u": lambda x, n: _second_kind(2 * x - 1, n),
    "hermite_polynomial_h": lambda x, n: _hermite(2 * x, n, Fraction(-1)),
    "hermite_polynomial_he": lambda x, n: _hermite(x, n, Fraction(-1, 2)),
    "laguerre_polynomial_l": lambda x, n: sum(
        Fraction((-1) ** k * math.comb(n, k), math.factorial(k)) * x**k for k in range(n + 1)
    ),
    "legendre_polynomial_p": lambda x, n: (
        sum((-1) ** k * math.comb(n, k) * math.comb(2 * n - 2 * k, n) * x ** (n - 2 * k) for k in range(n // 2 + 1))
        / Fraction(2**n)
    ),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    points = [-1.0, -0.75, -0.1, 0.0, 0.5, 0.9, 1.0, 1.5, -2.25]
    polynomial = getattr(torch.special, name)
    for n in (0, 1, 2, 7, 12, 30):
        got = polynomial(torch.tensor(points, dtype=torch.float64), n).tolist()
        for x, y in zip(points, got, strict=True):
            assert y == pytest.approx(float(POLYNOMIALS[name](Fraction(x), n)), rel=1e-10, abs=1e-12), (n, x)
    assert polynomial(torch.tensor(0.3), -1).item() == 0
    assert polynomial(0.3, torch.tensor([2.9])).item() == polynomial(torch.tensor(0.3), 2).item()
    assert math.isnan(polynomial(torch.tensor(2.5, dtype=torch.float64), 2**62).item())


def test_mvlgamma() -> None:
    x = torch.tensor([2.5, 3.0, 7.25], dtype=torch.float64)
    for p in (1, 2, 5):
        want = [
            p * (p - 1) / 4 * math.log(math.pi) + sum(float(mp.loggamma(v - i / 2)) for i in range(p))
            for v in x.tolist()
        ]
        assert torch.mvlgamma(x + 0.0, p).tolist() == pytest.approx(want) == torch.special.multigammaln(x, p).tolist()
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        torch.mvlgamma(x, 0)

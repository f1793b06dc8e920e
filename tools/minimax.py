"""Finds polynomial coefficients: the minimax fit of a function by Remez' exchange, in multiple precision.

    python tools/minimax.py "exp(x)" -0.3466 0.3466 6 --weight "1/exp(x)"

prints the coefficients (constant term first) as the nearest doubles and floats, and the largest weighted error.
Expressions may use mpmath's functions, e.g. "(log1p(x) - x + x*x/2) / x**3". Needs mpmath.
"""

from __future__ import annotations

import argparse
from typing import Any

import mpmath as mp
import numpy as np


def remez(f: Any, weight: Any, low: float, high: float, degree: int, rounds: int = 12) -> Any:
    """Coefficients p with max |weight * (f - p)| least, and that maximum."""
    n = degree + 2
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [low + (high - low) * mp.mpf(i) / 4000 for i in range(4001)]
    for _ in range(rounds):
        rows = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i, x in enumerate(points):
            for k in range(degree + 1):
                rows[i, k] = x**k
            rows[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = f(x)
        solution = mp.lu_solve(rows, right)
        coefficients = [solution[k] for k in range(degree + 1)]
        errors = [weight(x) * (f(x) - mp.polyval(coefficients[::-1], x)) for x in grid]
        extrema: list[int] = []
        for i, e in enumerate(errors):  # the largest of each run of one sign
            if extrema and mp.sign(errors[extrema[-1]]) == mp.sign(e):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n:
            break
        points = [grid[i] for i in extrema]
    return coefficients, max(abs(e) for e in errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("function")
    parser.add_argument("low", type=float)
    parser.add_argument("high", type=float)
    parser.add_argument("degree", type=int)
    parser.add_argument("--weight", default="1")
    args = parser.parse_args()
    mp.mp.dps = 60
    scope = {name: getattr(mp, name) for name in dir(mp) if not name.startswith("_")}
    f = eval(f"lambda x: {args.function}", scope)
    weight = eval(f"lambda x: mpf(1) * ({args.weight})", scope)
    coefficients, error = remez(f, weight, mp.mpf(args.low), mp.mpf(args.high), args.degree)
    print("double:", [float(c) for c in coefficients])
    print("float: ", [float(np.float32(float(c))) for c in coefficients])
    print("error:  2^", mp.nstr(mp.log(error, 2), 5))


if __name__ == "__main__":
    main()

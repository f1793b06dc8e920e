"""Accuracy of float32 functions against mpmath: at most 2 units in the last place, on every instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

mp.mp.dps = 40
FUNCTIONS = {
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfinv": mp.erfinv,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "digamma": mp.digamma,
    "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
LARGEST = float(np.finfo(np.float32).max)


def inputs() -> np.ndarray:
    """Both signs over all magnitudes, denormals included; neighbours of 1; ordinary numbers; arguments far out."""
    draw = np.random.RandomState(0)
    magnitudes = np.concatenate(
        [2.0 ** draw.uniform(-149, 128, 150), draw.uniform(0, 20, 150), draw.uniform(0, 1, 100)]
    )
    near = 1 + draw.normal(size=40) * 1e-3
    multiples = np.arange(1, 40) * (np.pi / 2)
    positive = np.concatenate([magnitudes, near, multiples, [1e-45, 88.7, 88.8, 103.9, 1e5, 1e10, LARGEST]])
    return np.concatenate([positive, -positive, [1.0, 2.0, 0.5, -0.5]]).astype(np.float32)


@pytest.fixture(scope="module", params=["baseline", "avx2", "avx512"])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What a process with that instruction set computes (the best that this machine has, where it lacks the set)."""
    folder = tmp_path_factory.mktemp(request.param)
    np.save(folder / "x.npy", inputs())
    script = (
        "import sys, numpy as np, vivace\n"
        "x = vivace.from_numpy(np.load(sys.argv[1] + '/x.npy'))\n"
        "np.savez(sys.argv[1] + '/y.npz', **{n: getattr(vivace, n)(x).numpy() for n in sys.argv[2:]})\n"
    )
    environment = os.environ | {"VIVACE_ISA": request.param}
    subprocess.run([sys.executable, "-c", script, str(folder), *FUNCTIONS], check=True, env=environment)
    return dict(np.load(Path(folder) / "y.npz"))


def reference(function, x: float):
    """The exact value, or None outside of the function's domain and at its poles."""
    try:
        value = function(mp.mpf(x))
    except (ValueError, ZeroDivisionError, OverflowError, mp.libmp.NoConvergence):
        return None
    return None if isinstance(value, mp.mpc) or mp.isnan(value) else value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_units_in_the_last_place(name: str, results: dict[str, np.ndarray]) -> None:
    worst, where = 0.0, None
    for x, y in zip(inputs(), results[name], strict=True):
        exact = reference(FUNCTIONS[name], float(x))
        if exact is None or mp.isinf(exact):
            continue
        if abs(exact) > mp.mpf(LARGEST) * (1 + mp.mpf(2) ** -24):
            assert np.isinf(y), f"{name}({x!r}) overflows, got {y!r}"
            continue
        unit = float(np.spacing(np.abs(np.float32(exact))))
        error = float(abs(mp.mpf(float(y)) - exact) / unit)
        if not error <= worst:
            worst, where = error, (x, y, mp.nstr(exact, 12))
    assert worst <= 2.0, f"{name}: {worst:.2f} units at {where}"


def test_special_values(module) -> None:
    inf, nan = float("inf"), float("nan")

    def values(name: str, *x: float) -> list[float]:
        return getattr(module, name)(module.tensor(x)).tolist()

    assert values("exp", inf, -inf, -200.0, 200.0) == [inf, 0, 0, inf]
    assert values("log", 0.0, -0.0, inf) == [-inf, -inf, inf]
    assert values("tanh", inf, -inf) == [1, -1]
    assert values("sigmoid", inf, -inf) == [1, 0]
    assert values("atan", inf) == pytest.approx([np.pi / 2])
    assert str(values("sin", -0.0)) == "[-0.0]"
    assert str(values("expm1", -0.0)) == "[-0.0]"
    for name, x in (("log", -1.0), ("sqrt", -1.0), ("asin", 2.0), ("sin", inf), ("acosh", 0.5), ("exp", nan)):
        assert np.isnan(values(name, x)[0]), name
    assert module.atan2(module.tensor([0.0, -0.0]), module.tensor([-1.0, -1.0])).tolist() == pytest.approx(
        [np.pi, -np.pi]
    )

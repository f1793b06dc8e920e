"""What the benchmarks share: the frameworks there are, timing less the empty call, child processes, tables."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OURS = "vivace"
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # they slow a current OpenBLAS on some machines
    os.environ.pop(variable, None)


def frameworks() -> list[str]:
    """vivace, and torch where it is installed."""
    return [OURS] + (["torch"] if importlib.util.find_spec("torch") else [])


def load(name: str) -> ModuleType:
    """Imports a framework with its nn and optim, on one thread."""
    module = importlib.import_module(name)
    for part in ("nn", "nn.functional", "optim"):
        importlib.import_module(f"{name}.{part}")
    module.set_num_threads(1)
    return module


def nanoseconds(call: Callable[[], object], budget: float = 0.1) -> float:
    """Time of one call in a run of about `budget` seconds, the loop and the call itself included."""
    timer = timeit.Timer(call)
    timer.timeit(3)
    once = max(timer.timeit(10) / 10, 2e-8)
    count = max(1, int(budget / once))
    return timer.timeit(count) / count * 1e9


def empty_call() -> float:
    """Time of an empty lambda, to be taken off."""
    return min(nanoseconds(lambda: None, 0.05) for _ in range(5))


def best_alternating(calls: dict[str, Callable[[], object]], rounds: int = 5, budget: float = 0.1) -> dict[str, float]:
    """Fastest round of each call, the empty call taken off; in turn, so that a slow spell of the machine hits all."""
    base = empty_call()
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], nanoseconds(call, budget))
    return {name: max(value - base, 0.1) for name, value in best.items()}


def child(code: str, *args: str, python: Sequence[str] = (sys.executable,)) -> dict[str, Any]:
    """Runs code in a fresh interpreter; its last line of output is JSON."""
    result = subprocess.run([*python, "-c", code, *args], capture_output=True, text=True, cwd=ROOT)
    if result.returncode:
        raise RuntimeError(result.stderr[-2000:])
    return json.loads(result.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def print_table(title: str, unit: str, rows: dict[str, dict[str, float]]) -> None:
    """One line per row: our figure, PyTorch's, the ratio."""
    print(f"\n{title} ({unit})")
    for name, values in rows.items():
        ours, theirs = values.get(OURS), values.get("torch")
        line = f"  {name:34s} vivace {'-' if ours is None else format(ours, '12,.5g')}"
        if theirs is not None:
            line += f"  torch {theirs:12,.5g}"
            if ours:
                line += f"  ratio {theirs / ours:8.2f}"
        print(line, flush=True)


def print_calls(title: str, calls: Callable[[ModuleType], dict[str, Callable[[], object]]]) -> None:
    """A table of what `calls` makes for each framework: nanoseconds, the empty call taken off."""
    per_framework = {name: calls(load(name)) for name in frameworks()}
    rows = {
        label: best_alternating({name: made[label] for name, made in per_framework.items()})
        for label in next(iter(per_framework.values()))
    }
    print_table(f"{title}, an empty lambda taken off", "ns", rows)

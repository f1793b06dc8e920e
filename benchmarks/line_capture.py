"""What noting the forward line costs: `a * b` with grad, in a function that was never called before each time.

vivace always notes it; here it is also timed with that taken out. PyTorch does so in anomaly mode only.
"""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common import OURS, frameworks, load, print_table
from benchmarks.instructions import instructions

FUNCTIONS = 500  # of a round
ROUNDS = 40
SOURCE = "def f(): return a * b\n"
FILES = [f"file_{i}.py" for i in range(50)]
CHILD = """
import sys
import vivace as torch
label, count = sys.argv[2], int(sys.argv[3])
torch._C._set_line_capture(label == "with the line")
a, b = torch.ones(4, requires_grad=True), torch.ones(4)
files = [f"file_{i}.py" for i in range(50)]
functions = []
for i in range(count):
    exec(compile("def f(): return a * b", files[i % 50], "exec"))
    functions.append(f)
for f in functions:
    f() if label != "nothing" else None
"""


def round_of(module: Any) -> float:
    """Nanoseconds of one first call, the call of the function included."""
    scope = {"a": module.ones(4, requires_grad=True), "b": module.ones(4, requires_grad=True)}
    functions: list[Callable[[], object]] = []
    for i in range(FUNCTIONS):
        exec(compile(SOURCE, FILES[i % len(FILES)], "exec"), scope)
        functions.append(scope["f"])
    gc.collect()
    gc.disable()
    start = time.perf_counter_ns()
    for f in functions:
        f()
    elapsed = time.perf_counter_ns() - start
    gc.enable()
    return elapsed / FUNCTIONS


def counted(calls: int = 2000) -> dict[str, float]:
    """Instructions of one first call, the call of the function included."""
    base = instructions(OURS, "nothing", calls, CHILD)
    return {
        label: (instructions(OURS, label, calls, CHILD) - base) / calls
        for label in ("without the line", "with the line")
    }


def switch(module: Any, name: str) -> Callable[[bool], object]:
    """Turns the noting of lines on and off."""
    if name == OURS:
        return module._C._set_line_capture  # type: ignore[no-any-return]
    return lambda on: module.autograd.set_detect_anomaly(on, check_nan=False)


def main() -> None:
    """Prints the table."""
    modules = {name: load(name) for name in frameworks()}
    best: dict[str, dict[str, float]] = {"without the line": {}, "with the line": {}}
    for _ in range(ROUNDS):
        for name, module in modules.items():
            for label, row in best.items():
                switch(module, name)(label == "with the line")
                row[name] = min(row.get(name, float("inf")), round_of(module))
    for name, module in modules.items():
        switch(module, name)(name == OURS)
    print_table("First call of a function that computes a * b with grad", "ns", best)
    for name in modules:
        more = best["with the line"][name] / best["without the line"][name] - 1
        print(f"  {name}: {100 * more:.1f} % more")
    if shutil.which("valgrind"):
        rows = {label: {OURS: n} for label, n in counted().items()}
        print_table("The same, counted", "instructions", rows)


if __name__ == "__main__":
    main()

"""A fresh process that imports and runs one small layer: time beyond `python -c pass`, memory, modules loaded."""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import time

from benchmarks.common import OURS, ROOT, child, frameworks, print_table

STATEMENTS = "import {0}, {0}.nn, {0}.optim; {0}.nn.Linear(2, 2)({0}.ones(1, 2)).sum().item()"
REPORT = """
import json, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
unwanted = [name for name in ("numpy", "importlib.metadata", "scipy_openblas32") if name in sys.modules]
print(json.dumps({"resident": int(status["VmRSS"].split()[0]) / 1024, "unwanted": unwanted}))
"""


def wall(code: str) -> float:
    """Milliseconds of a fresh interpreter that runs the code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    """Median of 20 runs for us, of 5 for PyTorch, each followed by an empty run."""
    compileall.compile_dir(ROOT / "src" / "vivace", quiet=1)  # as pip does when it installs
    rows: dict[str, dict[str, float]] = {"time beyond an empty process": {}}
    resident: dict[str, float] = {}
    for name in frameworks():
        code = STATEMENTS.format(name)
        wall(code)
        pairs = [(wall(code), wall("pass")) for _ in range(20 if name == OURS else 5)]
        rows["time beyond an empty process"][name] = statistics.median(p[0] for p in pairs) - statistics.median(
            p[1] for p in pairs
        )
        report = child(code + "\n" + REPORT)
        resident[name] = report["resident"]
        if name == OURS:
            print("imported although not needed:", ", ".join(report["unwanted"]) or "nothing")
    print_table("Import, one layer, one value", "ms", rows)
    print_table("Resident memory at its end", "MB", {"VmRSS": resident})


if __name__ == "__main__":
    main()

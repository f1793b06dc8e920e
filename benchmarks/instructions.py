"""Instructions of one call on four floats: difference of callgrind runs of N and 2N calls, an empty lambda taken off.

    python -m benchmarks.instructions [--calls N] [--ours-only]

Needs valgrind. A run with PyTorch takes a minute or two, since all of its import is simulated.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from benchmarks.common import OURS, ROOT, frameworks, print_table

CHILD = """
import importlib, sys
torch = importlib.import_module(sys.argv[1])
a, b = torch.ones(4), torch.ones(4)
ag, bg = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
calls = {"empty": lambda: None, "a + b": lambda: a + b, "a + b with grad": lambda: ag + b}
calls["a * b with grad"] = lambda: ag * bg
call = calls[sys.argv[2]]
for _ in range(200):
    call()
for _ in range(int(sys.argv[3])):
    call()
"""
LABELS = ["a + b", "a + b with grad", "a * b with grad"]


def instructions(module: str, label: str, count: int, code: str = CHILD) -> int:
    """Instructions of a whole process that runs `code`, which makes `count` calls."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", sys.executable, "-c", code]
        result = subprocess.run(
            [*command, module, label, str(count)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
    collected = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not collected:
        raise RuntimeError(result.stderr[-2000:])
    return int(collected[1])


def per_call(module: str, label: str, count: int) -> float:
    """Instructions that one more call costs."""
    return (instructions(module, label, 2 * count) - instructions(module, label, count)) / count


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--ours-only", action="store_true")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: valgrind is not installed; not measured")
        return
    rows: dict[str, dict[str, float]] = {label: {} for label in LABELS}
    for name in [OURS] if args.ours_only else frameworks():
        base = per_call(name, "empty", args.calls)
        for label in LABELS:
            rows[label][name] = per_call(name, label, args.calls) - base
    print_table("Instructions of one call on four floats, an empty lambda taken off", "instructions", rows)


if __name__ == "__main__":
    main()

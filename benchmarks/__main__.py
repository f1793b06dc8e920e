"""Runs the benchmarks of the README's table, or those named: python -m benchmarks [overhead chain ...]."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import ROOT

DEFAULT = [
    "overhead", "training_step", "instructions", "line_capture", "profiler", "chain", "startup", "memory_growth",
    "sizes", "every_op", "build_time",
]  # fmt: skip


def main(names: list[str]) -> int:
    """Each in a process of its own, so that one cannot disturb the next."""
    chosen = names or DEFAULT
    failed = [n for n in chosen if subprocess.run([sys.executable, "-m", f"benchmarks.{n}"], cwd=ROOT).returncode]
    if failed:
        print("Failed:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

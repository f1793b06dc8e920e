"""Runs every script under examples/ with `python -m vivace`, in its short form, and reports which of them fail.

A script that has a longer form reads EXAMPLE_SHORT=1 as "be quick".
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Returns 1 if one fails."""
    failed = []
    environment = {**os.environ, "EXAMPLE_SHORT": "1", "PYTHONPATH": str(ROOT / "src")}
    for script in sorted((ROOT / "examples").glob("*.py")):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "vivace", str(script)]
            result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        print(f"{script.name:32s} {'FAILED' if result.returncode else 'ok'} ({time.perf_counter() - start:.1f} s)")
        if result.returncode:
            failed.append(script.name)
            print(result.stdout[-1000:] + result.stderr[-3000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs all quick checks: linters, formatters, types, file sizes, the catalogue's own tests, tests/test_tiny.py.

python tools/check.py          # all
python tools/check.py --fix    # lets ruff and clang-format rewrite what they can, then all
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable


def tracked(*patterns: str) -> list[str]:
    """Files of the repository that match, new ones included."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [name for name in listing.splitlines() if (ROOT / name).exists()]


def commands(fix: bool) -> dict[str, list[str]]:
    """Name to command line, in the order in which they run."""
    clang_format = str(Path(PYTHON).parent / "clang-format")
    cpp = tracked("*.cpp", "*.h")
    steps = {
        "ruff": [PYTHON, "-m", "ruff", "check", "."],
        "ruff format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "clang-format": [clang_format, "--dry-run", "-Werror", *cpp],
        "mypy": [PYTHON, "-m", "mypy"],
        "sizes": [PYTHON, "tools/sizes.py", "--limit"],
        "catalogue": [PYTHON, "-m", "pytest", "tests/catalogue", "-p", "no:cacheprovider"],
        "tiny": [PYTHON, "-m", "pytest", "tests/test_tiny.py", "-p", "no:cacheprovider"],
    }
    if fix:
        steps = {
            "ruff --fix": [PYTHON, "-m", "ruff", "check", "--fix", "."],
            "ruff format (writing)": [PYTHON, "-m", "ruff", "format", "."],
            "clang-format -i": [clang_format, "-i", *cpp],
            **steps,
        }
    return steps


def main() -> int:
    """Runs every step, prints the output of those that fail, returns 1 if any did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    args = parser.parse_args()
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    failed = []
    for name, command in commands(args.fix).items():
        start = time.perf_counter()
        result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        print(
            f"{name:24s} {'ok' if result.returncode == 0 else 'FAILED'} ({time.perf_counter() - start:.1f} s)",
            flush=True,
        )
        if result.returncode:
            failed.append(name)
            print(result.stdout + result.stderr)
    if failed:
        print("Failed:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

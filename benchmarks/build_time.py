"""Seconds without a compiler cache: a fresh build, rebuilds after an entry's kernel is edited and after one is added.

Works on a copy of the sources in a temporary folder; the checkout is not touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import ROOT

NEW_ENTRY = """
build_time_toy = binary(
    "build_time_toy",
    dtypes=floating,
    kernel=lambda a, b: a * b + a,
    grad=lambda g, a, b: (g * b + g, g * a),
    samples=pairs(),
    doc="Here for a moment.",
)
"""
PARTS = ("CMakeLists.txt", "catalogue", "codegen", "runtime", "bindings", "src", "tools")


def timed(*command: str, cwd: Path, env: dict[str, str]) -> float:
    """Seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def edit_an_entry(folder: Path) -> str:
    """Changes what the kernel of the first binary entry with a lambda on one line computes; returns the file's name."""
    for path in sorted((folder / "catalogue" / "pointwise").glob("*.py")):
        text = path.read_text()
        changed = re.sub(r"kernel=lambda a, b: ([^,\n]+),\n", r"kernel=lambda a, b: (\1) + a - a,\n", text, count=1)
        if changed != text:
            path.write_text(changed)
            return path.name
    raise RuntimeError("no binary entry with a kernel lambda on one line")


def add_an_entry(folder: Path) -> str:
    """A new entry behind the first one of a file; returns the file's name."""
    path = folder / "catalogue" / "pointwise" / "exp_log.py"
    text = path.read_text()
    end = text.index("\n)\n") + 3
    path.write_text(text[:end] + NEW_ENTRY + text[end:])
    return path.name


def main() -> None:
    """Prints all three."""
    scripts = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "vivace")
        folder.mkdir()
        for part in PARTS:
            ignore = shutil.ignore_patterns("*.so", "__pycache__")
            source = ROOT / part
            shutil.copytree(source, folder / part, ignore=ignore) if source.is_dir() else shutil.copy(source, folder)
        env = {**os.environ, "CCACHE_DISABLE": "1", "PATH": f"{scripts}:{os.environ['PATH']}"}
        configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DPython_EXECUTABLE={sys.executable}"]
        seconds = timed(*configure, cwd=folder, env=env) + timed("ninja", "-C", "build", cwd=folder, env=env)
        print(f"\nBuild time on {os.cpu_count()} cores (s)\n  fresh{seconds:35.1f}", flush=True)
        for what, change in (("an edit of", edit_an_entry), ("a new entry in", add_an_entry)):
            name = change(folder)
            seconds = timed("ninja", "-C", "build", cwd=folder, env=env)
            print(f"  after {what} {name:{25 - len(what)}s}{seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()

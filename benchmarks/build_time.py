"""Seconds of a fresh build with an empty compiler cache, and of the rebuild after one entry's kernel is edited.

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


def main() -> None:
    """Prints both."""
    scripts = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "vivace")
        folder.mkdir()
        for part in PARTS:
            ignore = shutil.ignore_patterns("*.so", "__pycache__")
            source = ROOT / part
            shutil.copytree(source, folder / part, ignore=ignore) if source.is_dir() else shutil.copy(source, folder)
        env = {**os.environ, "CCACHE_DIR": str(Path(temporary, "ccache")), "PATH": f"{scripts}:{os.environ['PATH']}"}
        configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DPython_EXECUTABLE={sys.executable}"]
        seconds = timed(*configure, cwd=folder, env=env) + timed("ninja", "-C", "build", cwd=folder, env=env)
        print(f"\nBuild time on {os.cpu_count()} cores (s)\n  fresh, compiler cache empty  {seconds:8.1f}", flush=True)
        name = edit_an_entry(folder)
        print(f"  after an edit of {name:12s}{timed('ninja', '-C', 'build', cwd=folder, env=env):8.1f}")


if __name__ == "__main__":
    main()

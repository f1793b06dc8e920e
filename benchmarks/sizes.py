"""Installed size of everything that `pip install vivace` brings, and vivace's own share.

python -m benchmarks.sizes [--wheel dist/vivace-....whl]      # without a wheel, one is built first
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import ROOT


def megabytes(path: Path) -> float:
    """Size of a file or folder, compiled Python left out."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    return sum(p.stat().st_size for p in files) / 1e6


def main() -> None:
    """Installs the wheel and its dependencies into an empty folder and adds up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    args = parser.parse_args()
    pip = [sys.executable, "-m", "pip", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        wheel = args.wheel
        if wheel is None:
            subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", f"{folder}/wheel", str(ROOT)], check=True)
            wheel = next(Path(folder, "wheel").glob("vivace-*.whl"))
        target = Path(folder, "installed")
        subprocess.run([*pip, "install", "--no-compile", "--target", str(target), str(wheel)], check=True)
        print("\nInstalled size (MB)")
        for path in sorted(target.iterdir(), key=megabytes, reverse=True):
            if megabytes(path) >= 0.1:
                print(f"  {path.name:34s} {megabytes(path):8.1f}")
        print(f"  {'everything':34s} {megabytes(target):8.1f}")
    spec = importlib.util.find_spec("torch")
    if spec and spec.submodule_search_locations:
        print(f"  {'torch alone, beside it':34s} {megabytes(Path(spec.submodule_search_locations[0])):8.1f}")


if __name__ == "__main__":
    main()

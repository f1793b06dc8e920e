"""Fails if one of the given object files defines a weak symbol; the build runs it on objects of one instruction set.

A weak symbol (an inline function, a template of the standard library) may be the copy that the linker keeps for the
whole module; compiled for AVX-512 it would stop older processors.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

WEAK_TYPES = "wWvVu"


def weak_symbols(nm: str, objects: list[str]) -> list[str]:
    """One line `object: symbol` per weak definition."""
    listing = subprocess.run(
        [nm, "--defined-only", "--print-file-name", "--demangle", *objects], check=True, capture_output=True, text=True
    ).stdout
    found = []
    for line in listing.splitlines():
        path, _, symbol = line.partition(":")
        fields = symbol.split(maxsplit=2)
        if len(fields) == 3 and fields[1] in WEAK_TYPES:
            found.append(f"{Path(path).name}: {fields[2]}")
    return found


def main() -> int:
    """Writes the stamp if there are none; else prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--stamp", type=Path, required=True)
    parser.add_argument("objects", nargs="+")
    args = parser.parse_args()
    found = weak_symbols(args.nm, args.objects)
    if found:
        print("Weak symbols in objects that are compiled for one instruction set:", *found, sep="\n  ", file=sys.stderr)
        return 1
    args.stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())

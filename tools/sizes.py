"""Lines per folder, and hand-written files over the soft (400) and hard (600) limit of lines.

python tools/sizes.py            # the report
python tools/sizes.py --limit    # only files over the hard limit or without a head; exit status 1 if there are any
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".cpp", ".h", ".c", ".in"}
SOFT, HARD = 400, 600


def line_counts() -> dict[str, int]:
    """Path to number of lines, for the sources in the repository."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = [ROOT / name for name in listing.splitlines() if Path(name).suffix in SUFFIXES]
    return {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths if path.exists()}


def headless(names: Iterable[str]) -> list[str]:
    """Files that don't begin with a comment that says what they are for."""
    openings: dict[str, str | tuple[str, ...]] = {
        ".py": ('"""', 'r"""', "#"),
        ".cpp": "// ",
        ".h": ("// ", "/* "),
        ".c": "/* ",
    }
    return [
        name
        for name in names
        if (opening := openings.get(Path(name).suffix)) and (text := (ROOT / name).read_text())
        if not text.startswith(opening) or text.startswith("// ----")
    ]


def report(counts: dict[str, int]) -> None:
    """Prints the table of folders, then the long files."""
    folders: dict[str, list[int]] = collections.defaultdict(list)
    for name, lines in counts.items():
        folders["/".join(Path(name).parts[:-1][:2]) or "."].append(lines)
    print(f"{'folder':24s} files  lines  median  largest")
    for folder in sorted(folders):
        ordered = sorted(folders[folder])
        print(f"{folder:24s} {len(ordered):5d} {sum(ordered):6d} {ordered[len(ordered) // 2]:7d} {ordered[-1]:8d}")
    print(f"{'all':24s} {len(counts):5d} {sum(counts.values()):6d}")
    for name, lines in sorted(counts.items(), key=lambda item: -item[1]):
        if lines > SOFT:
            print(f"over {HARD if lines > HARD else SOFT}: {name} ({lines})")


def main() -> int:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", action="store_true")
    args = parser.parse_args()
    counts = line_counts()
    if not args.limit:
        report(counts)
        return 0
    long = {name: lines for name, lines in counts.items() if lines > HARD}
    for name, lines in long.items():
        print(f"{name}: {lines} lines, more than {HARD}")
    bare = headless(counts)
    for name in bare:
        print(f"{name}: begins without a comment that says what it is for")
    return 1 if long or bare else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes docs/gaps.md: which operators of PyTorch's database vivace has, and which it lacks.

The names stand in tests/data/torch_operators.txt (PyTorch 2.13; sparse, masked and private ones left out).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "data" / "torch_operators.txt"
KNOWN = ROOT / "tests" / "ops" / "known_gaps.txt"
PAGE = ROOT / "docs" / "gaps.md"


def present(module: Any, name: str) -> bool:
    """Whether `torch.NAME`, `torch.Tensor.NAME` or `torch.ops.NAME` can be reached in the module."""
    for place in (module, module.Tensor):
        for part in name.split("."):
            place = getattr(place, part, None)
        if place is not None:
            return True
    return False


def page(module: Any) -> str:
    """The text of docs/gaps.md."""
    names = NAMES.read_text().split()
    missing = [name for name in names if not present(module, name)]
    groups: dict[str, list[str]] = {}
    for name in missing:
        groups.setdefault(name.rpartition(".")[0] or "torch", []).append(name)
    lines = [
        "# What vivace lacks",
        "",
        "<!-- Written by tools/gaps.py; don't edit. -->",
        "",
        f"Of {len(names)} operators in PyTorch's operator database, {len(names) - len(missing)} exist here.",
        "`make conformance` measures how much of each works. A missing name raises AttributeError. Missing:",
    ]
    for group in sorted(groups):
        lines += ["", f"**{group}**: " + ", ".join(f"`{name}`" for name in groups[group])]
    lines += ["", "Details of operators that exist, with their reasons, by the test that shows them:", ""]
    gaps = [line.split("  ", 1) for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    lines += [f"- `{test}`: {reason.strip()}" for test, reason in gaps]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the page."""
    import vivace

    PAGE.write_text(page(vivace))
    return 0


if __name__ == "__main__":
    sys.exit(main())

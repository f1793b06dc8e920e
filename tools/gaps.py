"""Writes docs/gaps.md: which of PyTorch's operators and public names vivace lacks.

They stand in tests/data: torch_operators.txt (its database; sparse, masked and private ones left out) and
torch_names.json (its namespaces, recorded), both of PyTorch 2.13.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OPERATORS = ROOT / "tests" / "data" / "torch_operators.txt"
NAMES = ROOT / "tests" / "data" / "torch_names.json"
KNOWN = ROOT / "tests" / "ops" / "known_gaps.txt"
PAGE = ROOT / "docs" / "gaps.md"


def present(module: Any, name: str) -> bool:
    """Whether `torch.NAME`, `torch.Tensor.NAME` or, of what works in place only, `torch.Tensor.NAME_` is there."""
    for place, last in ((module, name), (module.Tensor, name), (module.Tensor, name + "_")):
        found = place
        for part in last.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return True
    return False


def namespace(module: Any, name: str) -> Any:
    """The module or class `torch.x.y`, or None."""
    path = module.__name__ + name.removeprefix("torch")
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, last = path.rpartition(".")
        return getattr(importlib.import_module(parent), last, None)


def page(module: Any) -> str:
    """The text of docs/gaps.md."""
    operators = OPERATORS.read_text().split()
    missing = [name for name in operators if not present(module, name)]
    public = json.loads(NAMES.read_text())
    lines = [
        "# What vivace lacks",
        "",
        "<!-- Written by tools/gaps.py; don't edit. -->",
        "",
        f"Of {len(operators)} operators in PyTorch's operator database, {len(operators) - len(missing)} exist here"
        + (", all but " + ", ".join(f"`{name}`" for name in missing) if missing else "")
        + ".",
        "`make conformance` measures how much of each works.",
        "",
        f"Of {sum(map(len, public.values()))} public names in {len(public)} of PyTorch's namespaces, those below are "
        "missing. Reading one raises AttributeError.",
    ]
    for name, names in public.items():
        place = namespace(module, name)
        lacking = [n for n in names if not hasattr(place, n)]
        if lacking:
            lines += ["", f"**{name}**: " + ", ".join(f"`{n}`" for n in lacking)]
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

"""What the recorders share: where the data lies, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"


def write(path: Path, records: Mapping[str, Any]) -> None:
    """One line a record, so that a change of one record is a change of one line."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in records.items())
    path.write_text("{\n" + lines + "\n}\n")
    print(f"{path.relative_to(DATA)}: {len(records)} records")

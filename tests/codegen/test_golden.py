"""What the generator makes of a few fixed operators, compared with files.

`UPDATE_GOLDEN=1 pytest tests/codegen` rewrites them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """In a process of its own, because entries register themselves."""
    root = HERE.parent.parent
    command = [sys.executable, str(HERE / "golden_entries.py")]
    env = {**os.environ, "PYTHONPATH": str(root)}
    files = json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
    if os.environ.get("UPDATE_GOLDEN"):
        for path in GOLDEN.iterdir():
            path.unlink()
        for name, text in files.items():
            (GOLDEN / golden_name(name)).write_text(text)
    return files


def golden_name(name: str) -> str:
    return name.replace("/", ".") + ".txt"


def test_files(generated: dict[str, str]) -> None:
    assert {golden_name(n) for n in generated} == {p.name for p in GOLDEN.iterdir()}


def test_texts(generated: dict[str, str]) -> None:
    for name, text in generated.items():
        assert text == (GOLDEN / golden_name(name)).read_text(), name

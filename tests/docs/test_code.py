"""Programs in docs/custom_operators.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import run_script

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "custom_operators.md").read_text(), re.S)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[-1][:40])
def test_program(program: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(program)
    result = run_script(script, tmp_path)
    assert result.returncode == 0, result.stderr[-2000:]

"""Programs in the pages under docs/ run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import run_script

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    f"{page.stem}-{number}": program
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_program(program: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(program)
    result = run_script(script, tmp_path, TORCH_EXTENSIONS_DIR=str(tmp_path))
    assert result.returncode == 0, result.stderr[-2000:]

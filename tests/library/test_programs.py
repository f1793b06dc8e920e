"""Every program of programs/ prints what PyTorch 2.13 printed (NAME.txt). The tasks are those of PyTorch's own pages on
custom operators, modes and tensor classes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import run_script

PROGRAMS = Path(__file__).resolve().parent / "programs"


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_program(program: Path, tmp_path: Path) -> None:
    result = run_script(program, tmp_path, "-W", "ignore")
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout == program.with_suffix(".txt").read_text()

"""A private backend written in Python: the programs of backends/ check themselves, each in a process of its own, since
a process has one backend.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import run_script

PROGRAMS = Path(__file__).resolve().parent / "backends"


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_backend(program: Path, tmp_path: Path) -> None:
    result = run_script(program, tmp_path)
    assert result.returncode == 0, result.stdout[-1000:] + result.stderr[-3000:]

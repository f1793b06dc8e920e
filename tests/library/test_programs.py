"""Every program of programs/ prints what PyTorch 2.13 printed (NAME.txt). The tasks are those of PyTorch's own pages on
custom operators.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import MODULE

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ["-m", "vivace"] if MODULE == "vivace" else []


@pytest.mark.parametrize("program", sorted((ROOT / "tests/library/programs").glob("*.py")), ids=lambda path: path.stem)
def test_program(program: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")} if RUNNER else dict(os.environ)
    command = [sys.executable, "-W", "ignore", *RUNNER, str(program)]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout == program.with_suffix(".txt").read_text()

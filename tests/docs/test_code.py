"""Programs in docs/custom_operators.md run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import MODULE

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "custom_operators.md").read_text(), re.S)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[-1][:40])
def test_program(program: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(program)
    runner = ["-m", "vivace"] if MODULE == "vivace" else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")} if runner else dict(os.environ)
    command = [sys.executable, *runner, str(script)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]

"""Every script of examples/, in its short form: each checks by itself that it learned what it should."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import MODULE

ROOT = Path(__file__).resolve().parents[1]
RUNNER = ["-m", "vivace"] if MODULE == "vivace" else []


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda script: script.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    command = [sys.executable, *RUNNER, str(script)]
    environment = {**os.environ, "EXAMPLE_SHORT": "1"}
    if RUNNER:
        environment["PYTHONPATH"] = str(Path(importlib.util.find_spec(MODULE).origin).parents[1])
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-1000:] + result.stderr[-3000:]

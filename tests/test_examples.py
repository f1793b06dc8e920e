"""Every script of examples/, in its short form: each checks by itself that it learned what it should."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import run_script

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda script: script.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    result = run_script(script, tmp_path, EXAMPLE_SHORT="1")
    assert result.returncode == 0, result.stdout[-1000:] + result.stderr[-3000:]


def test_extension_in_cpp(tmp_path: Path, module: Any) -> None:
    """Built in place by its setup script."""
    folder = tmp_path / "cpp_extension"
    shutil.copytree(EXAMPLES / "cpp_extension", folder, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so"))
    environment = os.environ | {"PYTHONPATH": str(Path(module.__file__).parents[1])}
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-1000:] + built.stderr[-3000:]
    test_example(folder / "train.py", folder)

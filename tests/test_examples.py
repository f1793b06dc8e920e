"""Every script of examples/, in its short form: each checks by itself that it learned what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import run_script

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda script: script.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    result = run_script(script, tmp_path, EXAMPLE_SHORT="1")
    assert result.returncode == 0, result.stdout[-1000:] + result.stderr[-3000:]

"""`python -m vivace`: scripts, modules and code run as under Python itself, and torch is vivace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch import nn as again
import vivace, vivace.nn
import helper

assert torch is vivace and torch.__name__ == "torch"
assert nn is again is vivace.nn is sys.modules["torch.nn"]
assert nn.__spec__.name == "vivace.nn"
assert __spec__ is None
assert sys.modules["__main__"].__dict__ is globals()
print(torch.__version__, __name__, sys.argv[1:], sys.path[0] == helper.FOLDER)


def fail():
    raise ValueError("boom")


if sys.argv[1:] == ["fail"]:
    fail()
if sys.argv[1:] == ["exit"]:
    sys.exit(7)
"""


UNDER_ITS_NAME = """\
import sys
import vivace

sys.modules["torch"] = vivace
import torch.nn.functional as F
import torch.optim as optim, torch.utils.data
from torch._C import DispatchKey
from torch.nn.modules.linear import Linear

assert F is vivace.nn.functional and optim is vivace.optim and Linear is vivace.nn.Linear
twice = [n for n in sys.modules if n.startswith("torch.") and sys.modules[n] is not sys.modules["vivace" + n[5:]]]
assert not twice, twice
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("import os\nFOLDER = os.path.dirname(os.path.realpath(__file__))\n")
    (tmp_path / "syntax.py").write_text("def (\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "__main__.py").write_text("import sys, torch\nprint(__package__, sys.argv[1:])\n")
    return tmp_path


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    import vivace

    source = Path(vivace.__file__).parents[1]
    command = [sys.executable, "-m", "vivace", *args]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_script(folder: Path) -> None:
    result = run(folder, "script.py", "a", "b")
    assert result.stdout == "2.13.0+vivace __main__ ['a', 'b'] True\n", result.stderr
    assert result.returncode == 0


def test_traceback_starts_in_the_script(folder: Path) -> None:
    result = run(folder, "script.py", "fail")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: boom"
    files = [line.split('"')[1] for line in lines if line.startswith("  File ")]
    assert files == ["script.py", "script.py"]


def test_exit_status(folder: Path) -> None:
    assert run(folder, "script.py", "exit").returncode == 7


def test_syntax_error(folder: Path) -> None:
    result = run(folder, "syntax.py")
    assert result.returncode == 1
    assert result.stderr.startswith('  File "syntax.py", line 1')


def test_no_such_file(folder: Path) -> None:
    result = run(folder, "missing.py")
    assert result.returncode == 2
    assert "can't open file" in result.stderr


def test_module_and_code(folder: Path) -> None:
    assert run(folder, "-m", "package", "x").stdout == "package ['x']\n"
    assert run(folder, "-c", "import torch, sys; print(sys.argv)", "x").stdout == "['-c', 'x']\n"
    assert "No module named nothing" in run(folder, "-m", "nothing").stderr


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import torch; torch.fancy", "vivace does not have torch.fancy; its docs/gaps.md lists"),
        ("import torch.fancy", "ModuleNotFoundError: vivace does not have the module torch.fancy"),
        ("from torch import fancy", "ImportError: cannot import name 'fancy' from 'torch'"),
        ("import torch; torch.autograd.fancy", "AttributeError: vivace does not have torch.autograd.fancy"),
    ],
)
def test_what_is_missing_says_so(folder: Path, code: str, error: str) -> None:
    assert run(folder, "-c", code).stderr.splitlines()[-1].startswith(error)


@pytest.mark.parametrize("name", ["torch.no_such_name", "torch.ones(2).no_such_name", "torch.linalg.no_such_name"])
def test_names_that_vivace_lacks(folder: Path, name: str) -> None:
    """The report says who lacks the name, once."""
    result = run(folder, "-c", f"import torch; {name}")
    assert result.returncode == 1
    assert "AttributeError" in result.stderr
    assert result.stderr.splitlines()[-1].count("vivace does not have torch") == 1


def test_other_attribute_errors_get_no_note(folder: Path) -> None:
    result = run(folder, "-c", "import torch; [].no_such_name")
    assert result.returncode == 1
    assert "vivace does not have" not in result.stderr


def test_a_program_that_puts_it_under_the_name_torch_itself(folder: Path) -> None:
    import vivace

    environment = {**os.environ, "PYTHONPATH": str(Path(vivace.__file__).parents[1])}
    result = subprocess.run([sys.executable, "-c", UNDER_ITS_NAME], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr

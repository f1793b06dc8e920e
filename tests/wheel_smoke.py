"""Run by `make wheel-test` in an environment that has only the wheel: the package is whole and finds OpenBLAS."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

import vivace

assert "site-packages" in vivace.__file__, vivace.__file__
a = vivace.ones(64, 64)
assert (a @ a).sum().item() == 64.0**3
layer = vivace.nn.Linear(2, 2)
layer(vivace.ones(1, 2)).sum().backward()
assert layer.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
assert vivace.ones(3).numpy().tolist() == [1.0, 1.0, 1.0]

shipped = [str(path) for path in files("vivace") or []]
assert any(name.endswith(".pyi") for name in shipped), "stubs are missing"
assert any(name.endswith("py.typed") for name in shipped), "py.typed is missing"
assert not [name for name in shipped if name.startswith(("tests", "codegen", "catalogue", "runtime"))], shipped

with tempfile.TemporaryDirectory() as folder:
    script = Path(folder, "script.py")
    script.write_text(
        "import torch\nassert torch.__version__ == '2.13.0+vivace'\nprint(torch.arange(3).sum().item())\n"
    )
    result = subprocess.run([sys.executable, "-m", "vivace", script], capture_output=True, text=True, cwd=folder)
    assert result.stdout.strip() == "3", result.stderr
print("wheel: ok,", round(sum(p.locate().stat().st_size for p in files("vivace") or []) / 1e6, 1), "MB")

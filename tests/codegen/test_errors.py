"""A mistake in an entry is reported at the entry's line, as `file:line: error: what`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEAD = """\
from catalogue.dtypes import floating
from catalogue.kinds import binary, composite, op, unary, view
from codegen.expr import cpp, ops
from codegen.generate import generate
from codegen.model import CatalogueError
try:
    entry = \\
"""
TAIL = """
    generate([entry])
except CatalogueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('unary("f(", kernel=lambda a: a)', "at column 3 of schema"),
        ('unary("f", kernel=lambda x: x)', "kernel has no value named 'x' (known: a)"),
        ('unary("f", kernel=lambda a: a, grad=lambda g, z: g)', "grad has no value named 'z'"),
        ('unary("f", kernel=lambda a: a.nonsense())', "'nonsense' is neither a primitive nor a pointwise operator"),
        ('unary("f", kernal=lambda a: a, kernel=lambda a: a)', "unknown option 'kernal'"),
        ('unary("f", kernel=lambda a: a, namespace="torchy")', "unknown namespace 'torchy'"),
        ('unary("f", kernel=lambda a: a, variants="metod")', "variants are"),
        ('unary("f", kernel=lambda a: a, aliases="")', "aliases= has an empty name"),
        ('unary("f", kernel=lambda a: a, aliases="g, ")', "aliases= has an empty name"),
        ('view("f(Tensor self) -> Tensor", kernel="f")', "a view marks what it shares"),
        ('composite("f(Tensor self) -> Tensor")', "either kernel= or body="),
        ('composite("f(Tensor self) -> Tensor", body=lambda self: self.nope())', "'nope' is no operator"),
        ('op("f(Tensor self, int d) -> Tensor", kernel="f", grad=lambda g, d: g.f(d, d))', "no overload of f takes"),
        ('op("f(Tensor self) -> Tensor", kernel="f", grad=lambda g: (g, g))', "gives 2 values for 1 tensor arguments"),
        ('unary("f", kernel=lambda a: a if a > 0 else -a)', "use where(condition, a, b)"),
        ('binary("f", operator="=>", kernel=lambda a, b: a)', "no binary operator '=>'"),
    ],
)
def test_error_at_the_line(tmp_path: Path, entry: str, message: str) -> None:
    file = tmp_path / "entries.py"
    file.write_text(HEAD + f"    {entry}" + TAIL)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True)
    assert result.stderr == ""
    line = HEAD.count("\n") + 1
    assert result.stdout.startswith(f"{file}:{line}: error: ")
    assert message in result.stdout

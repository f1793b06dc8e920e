"""tools/no_weak_symbols.py on two objects made here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.no_weak_symbols import weak_symbols

COMPILER = shutil.which("c++")


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("static inline int f(int a) { return a + 1; } int g(int a) { return f(a); }", 0),
        ("namespace { template <class T> T f(T a) { return a; } } int g(int a) { return f(a); }", 0),
        ("inline int f(int a) { return a ? f(a - 1) : 1; } int g(int a) { return f(a); }", 1),
    ],
)
def test_weak_definitions_are_found(tmp_path: Path, source: str, count: int) -> None:
    (tmp_path / "a.cpp").write_text(source)
    subprocess.run([COMPILER or "", "-c", "-O0", "a.cpp", "-o", "a.o"], cwd=tmp_path, check=True)
    assert len(weak_symbols("nm", [str(tmp_path / "a.o")])) == count

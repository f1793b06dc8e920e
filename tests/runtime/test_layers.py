"""What the sources of the runtime may use, read from their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_PYTHON = ("kernels", "composite", "random", "loop", "simd")
"""Folders whose code counts references, through core/object.h, and calls nothing else of Python."""
COUNTING = {"Py_INCREF", "Py_XINCREF", "Py_DECREF", "Py_XDECREF", "Py_NewRef", "Py_XNewRef"}
EXCEPT = {"runtime/kernels/blas.cpp": "finds OpenBLAS through the import system"}


def sources(folder: str) -> Iterator[tuple[str, str]]:
    """Name and text without comments."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".h", ".cpp"}:
            yield str(path.relative_to(ROOT)), re.sub(r"//.*", "", path.read_text())


def test_only_one_header_of_the_runtime_includes_python() -> None:
    found = [name for name, text in sources("runtime") if re.search(r"#\s*include\s*<Python\.h>", text)]
    assert found == ["runtime/core/object.h"]


def test_kernels_and_loops_know_nothing_of_python() -> None:
    found = {
        f"{name}: {call}"
        for folder in NO_PYTHON
        for name, text in sources(f"runtime/{folder}")
        for call in re.findall(r"\b_?Py[A-Za-z]*_\w+", text)
        if call not in COUNTING and name not in EXCEPT
    }
    assert not found

"""The rule of the layout, executed: one file under catalogue/ makes an operator, with all that belongs to it.

Writes a toy entry into the checkout, builds, looks for it everywhere, takes it away again and builds once more. Not
collected by default, since it changes the module that other tests use: `make test-one-file`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
ENTRY = ROOT / "catalogue" / "pointwise" / "toy_blend.py"
TEXT = '''"""Written by tests/one_file.py."""

from __future__ import annotations

from catalogue.dtypes import floating
from catalogue.kinds import binary
from catalogue.samples import pairs

toy_blend = binary(
    "toy_blend",
    dtypes=floating,
    kernel=lambda a, b: a * b + a,
    grad=lambda g, a, b: (g * b + g, g * a),
    ref=lambda a, b: a * b + a,
    samples=pairs(),
    doc="The toy of the one-file test.",
)
'''


def run(*command: str) -> str:
    """Output of a command in the checkout; fails the test with it."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


def python(code: str) -> str:
    return run(sys.executable, "-c", code)


def build() -> float:
    start = time.perf_counter()
    run(str(Path(sys.executable).parent / "ninja"), "-C", str(BUILD))
    return time.perf_counter() - start


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    """Adds the entry, builds, and puts everything back."""
    build()
    ENTRY.write_text(TEXT)
    try:
        seconds = build()
        print(f"built with one more entry in {seconds:.1f} s")
        yield
    finally:
        ENTRY.unlink()
        build()


def test_function_method_inplace_out() -> None:
    python(
        "import vivace as torch\n"
        "a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])\n"
        "assert torch.toy_blend(a, b).tolist() == a.toy_blend(other=b).tolist() == [4.0, 10.0]\n"
        "assert a.toy_blend(1.0).tolist() == [2.0, 4.0]\n"
        "out = torch.empty(2)\n"
        "assert torch.toy_blend(a, b, out=out) is out and out.tolist() == [4.0, 10.0]\n"
        "assert a.toy_blend_(b) is a and a.tolist() == [4.0, 10.0]\n"
        "assert 'toy of the one-file test' in torch.toy_blend.__doc__\n"
    )


def test_autograd() -> None:
    python(
        "import vivace as torch\n"
        "a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)\n"
        "y = a.toy_blend(b)\n"
        "assert y.grad_fn.name() == 'ToyBlendBackward0'\n"
        "y.sum().backward()\n"
        "assert a.grad.tolist() == [4.0, 5.0] and b.grad.tolist() == [1.0, 2.0]\n"
    )


def test_stub_page_and_explanation() -> None:
    generated = BUILD / "generated"
    assert any("def toy_blend" in path.read_text() for path in (generated / "stubs").rglob("*.pyi"))
    assert any("toy_blend" in path.read_text() for path in (generated / "docs").rglob("*.md"))
    explained = run(sys.executable, "tools/explain.py", "toy_blend")
    parts = (
        "catalogue/pointwise/toy_blend.py",
        "packet_torch_toy_blend",
        "const PointwiseInfo toy_blend",
        "toy_blend_f32(",
    )
    for part in (*parts, "ToyBlendBackward0", "toy_blend_"):
        assert part in explained


def test_tests_and_bench_row() -> None:
    output = run(sys.executable, "-m", "pytest", "tests/ops/test_every_op.py", "-k", "toy_blend")
    assert " passed" in output
    assert " failed" not in output
    assert "toy_blend" in run(sys.executable, "-m", "benchmarks.every_op", "toy_blend")

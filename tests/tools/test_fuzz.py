"""tools/fuzz.py: what it takes for a finding, that a call follows from its label, that a child's death is reported."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tools import fuzz, fuzz_calls


@pytest.mark.parametrize("error", [TypeError("no"), RuntimeError("no"), MemoryError(), NotImplementedError("no")])
def test_documented_errors_are_allowed(error: Exception) -> None:
    assert fuzz.complaint(error) == ""


@pytest.mark.parametrize(
    "error",
    [
        AttributeError("x"),
        SystemError("x"),
        RecursionError("x"),
        RuntimeError("vector::_M_range_check"),
        RuntimeError(),
    ],
)
def test_other_errors_are_findings(error: Exception) -> None:
    assert fuzz.complaint(error)


def test_a_label_makes_the_same_call(module: Any) -> None:
    calls = [[str(fuzz_calls.Maker(module, f"softmax.int#{i}").call()) for i in range(40)] for _ in range(2)]
    assert calls[0] == calls[1]
    assert len(set(calls[0])) > 20


def test_every_operator_can_be_called(module: Any) -> None:
    for entry in fuzz_calls.entries():
        fuzz_calls.Maker(module, f"{entry}#0").call()


def test_a_childs_calls_are_counted(tmp_path: Path) -> None:
    findings = fuzz.Findings()
    assert fuzz.run_child([f"exp#{i}" for i in range(50)], findings, tmp_path, deadline=time.monotonic() + 60) == 50
    assert not findings.seen


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="built without the pools that count")
def test_bytes_in_use_are_those_of_live_tensors(module: Any) -> None:
    before = fuzz.in_use(module)
    kept = module.zeros(1000, 1000)
    assert fuzz.in_use(module) - before == pytest.approx(4_000_000, rel=0.3)  # blocks come in sizes of four steps
    del kept
    assert abs(fuzz.in_use(module) - before) < fuzz.GROWTH

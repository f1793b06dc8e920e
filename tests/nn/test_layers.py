"""Layers give what PyTorch gives: text, initial values of a seed, outputs, gradients, statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.nn import cases

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "nn" / "layers.json").read_text())


def test_every_case_is_recorded() -> None:
    assert list(RECORDED) == list(cases.LAYERS), "run `python -m tools.record nn`"


@pytest.mark.parametrize("expression", cases.LAYERS)
def test_layer(module: Any, expression: str) -> None:
    expected = RECORDED[expression]
    try:
        actual = cases.run(module, expression)
    except NotImplementedError as error:
        pytest.skip(str(error))
    assert actual["repr"] == expected["repr"]
    assert actual["shape"] == expected["shape"]
    assert list(actual["initial"]) == list(expected["initial"])
    for key in ("initial", "output", "eval", "gradients", "state"):
        assert actual[key] == pytest.approx(expected[key], rel=1e-4, abs=1e-5), key

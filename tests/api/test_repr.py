"""How tensors print against recorded PyTorch texts (tests/data/repr.json.gz, made by tools/record/repr.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.repr_cases import OPTIONS, texts

PATH = Path(__file__).parents[1] / "data" / "repr.json.gz"


@pytest.mark.parametrize("options", OPTIONS)
def test_same_text_as_pytorch(module: Any, options: str) -> None:
    recorded = json.loads(gzip.decompress(PATH.read_bytes()))[options]
    ours = texts(module, options)
    assert len(ours) == len(recorded)
    for text, expected in zip(ours, recorded, strict=True):
        assert text == expected


def test_options_are_restored(module: Any) -> None:
    tensor_str = module._tensor_str
    before = tensor_str.get_printoptions()
    with tensor_str.printoptions(precision=2, sci_mode=True):
        assert repr(module.tensor([1.5])) == "tensor([1.50e+00])"
    assert tensor_str.get_printoptions() == before


def test_named_results(module: Any) -> None:
    named = module.tensor([3.0, 1.0]).max(0)
    assert repr(named) == "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(0))"

"""The random stream against recorded PyTorch values (tests/data/random.json, made by tools/record_random.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.random.cases import CASES, SEEDS

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "random.json").read_text())


def values(t: Any) -> list[Any]:
    """All elements; of long tensors the ends. Complex ones as pairs."""
    flat = t.flatten().tolist()
    flat = [part for x in flat for part in (x.real, x.imag)] if t.dtype.is_complex else flat
    return flat if len(flat) <= 24 else flat[:8] + flat[-18:]


def digest(torch: Any, name: str, seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    t = CASES[name][1](torch)
    after = torch.rand(2, dtype=torch.float64).tolist()  # shows that as much of the stream was used
    return {"shape": list(t.shape), "dtype": str(t.dtype), "values": values(t), "after": after}


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_pytorch(module: Any, name: str) -> None:
    for seed in SEEDS:
        ours, theirs = digest(module, name, seed), RECORDED[name][str(seed)]
        if CASES[name][0]:
            assert ours == theirs
        else:
            tolerance = {"torch.float64": 1e-13, "torch.float16": 2e-3, "torch.bfloat16": 2e-2}.get(ours["dtype"], 2e-6)
            np.testing.assert_allclose(ours.pop("values"), theirs["values"], rtol=tolerance, atol=tolerance)
            assert ours == {k: v for k, v in theirs.items() if k != "values"}

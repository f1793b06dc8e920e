"""Reductions over a dim of size 0 give their neutral element, whatever memory the result gets."""

from __future__ import annotations

import math
from typing import Any

import pytest

NEUTRAL = {
    "sum": 0.0, "prod": 1.0, "mean": math.nan, "nansum": 0.0, "nanmean": math.nan, "logsumexp": -math.inf,
    "count_nonzero": 0, "all": True, "any": False, "var": math.nan, "std": math.nan, "norm": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("name", NEUTRAL)
@pytest.mark.parametrize(("shape", "dim"), [((5, 0), 1), ((0, 5), 0), ((5, 0, 1), 1), ((2, 3, 0), 2)])
def test_neutral(module: Any, name: str, shape: tuple[int, ...], dim: int) -> None:
    kept = math.prod(s for d, s in enumerate(shape) if d != dim)
    for _ in range(3):
        dirty = module.full((kept,), 7.0)  # the result may get its memory
        del dirty
        x = module.zeros(shape)
        got = x.norm(2, dim) if name == "norm" else getattr(module, name)(x, dim)
        want = NEUTRAL[name]
        for value in got.flatten().tolist():
            assert value == want or (value != value and want != want)


def test_sizes_too_large_for_bytes_beside_an_empty_dim(module: Any) -> None:
    x = module.zeros(0, 0, 2**62)
    assert x.sum().item() == 0 and x.sum(0).shape == (0, 2**62) and x.sum(1, keepdim=True).shape == (0, 1, 2**62)

"""The random stream against recorded PyTorch values (tests/data/random.json, made by tools/record/random.py)."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.random.cases import CASES, SEEDS, digest

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "random.json").read_text())


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


def test_generators_are_copied_with_their_state(module: Any) -> None:
    generator = module.Generator().manual_seed(7)
    module.rand(3, generator=generator)
    for twin in (copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert twin.initial_seed() == 7
        assert module.equal(module.rand(5, generator=twin), module.rand(5, generator=generator.clone_state()))


def test_probabilities_that_do_not_fit_are_refused(module: Any) -> None:
    for sizes in ((3, 5), (4,), (1, 5, 3)):
        with pytest.raises(RuntimeError):
            module.zeros(5, 3).bernoulli_(module.ones(sizes))
    assert module.zeros(5, 3).bernoulli_(module.ones(3)).sum().item() == 15

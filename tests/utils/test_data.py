"""utils.data: orders and batches against PyTorch's (tests/data/data.json, made by tools/record/data.py)."""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.utils.data_cases import CASES, outcome

PATH = Path(__file__).parents[1] / "data" / "data.json"
Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("name", CASES)
def test_same_order_as_pytorch(module: Any, name: str) -> None:
    assert outcome(module, name) == json.loads(PATH.read_text())[name]


def test_collate_keeps_containers(module: Any) -> None:
    collate = module.utils.data.default_collate
    batch = collate([{"x": module.ones(2), "n": i, "f": float(i), "s": str(i), "p": Pair(i, [i])} for i in range(3)])
    assert batch["x"].shape == (3, 2)
    assert batch["n"].tolist() == [0, 1, 2]
    assert batch["f"].dtype == module.float64
    assert batch["s"] == ["0", "1", "2"]
    assert isinstance(batch["p"], Pair)
    assert batch["p"].b[0].tolist() == [0, 1, 2]
    assert collate([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert isinstance(collate([(1, 2.0), (3, 4.0)]), list)
    with pytest.raises(TypeError):
        collate([object()])
    with pytest.raises(RuntimeError, match="equal size"):
        collate([[1], [1, 2]])


def test_streams(module: Any) -> None:
    data = module.utils.data

    class Stream(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(7))

    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    assert len(list(data.DataLoader(Stream() + Stream(), batch_size=None))) == 14
    with pytest.raises(ValueError, match="shuffle"):
        data.DataLoader(Stream(), shuffle=True)


def test_concatenated_and_nested_subsets(module: Any) -> None:
    data = module.utils.data
    both = data.ConcatDataset([range(5), range(10, 13)])
    assert [both[i] for i in (0, 4, 5, 7, -1, -8)] == [0, 4, 10, 12, 12, 0]
    assert len(both) == 8
    tensors = data.TensorDataset(module.arange(10))
    nested = data.Subset(data.Subset(tensors, [3, 4, 5, 6]), [0, 2, 3])
    assert [b[0].tolist() for b in data.DataLoader(nested, batch_size=2)] == [[3, 5], [6]]


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": [1], "shuffle": True},
        {"batch_sampler": [[1]], "batch_size": 3},
        {"batch_size": None, "drop_last": True},
        {"batch_size": 0},
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
    ],
)
def test_options_that_exclude_each_other(module: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        module.utils.data.DataLoader([1, 2, 3], **options)


def test_what_samplers_were_made_from_is_fixed(module: Any) -> None:
    loader = module.utils.data.DataLoader([1, 2, 3], batch_size=2)
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 3
    loader.collate_fn = len
    assert list(loader) == [2, 1]


def test_distributed_sampler(module: Any) -> None:
    def shares(**options: Any) -> list[list[int]]:
        samplers = [module.utils.data.DistributedSampler(range(10), 3, rank, **options) for rank in range(3)]
        return [list(sampler) for sampler in samplers]

    assert shares(shuffle=False) == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert shares(shuffle=False, drop_last=True) == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    sampler = module.utils.data.DistributedSampler(range(10), 3, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert len(sampler) == 4 and list(sampler) != first == shares()[0]
    assert sorted({i for share in shares() for i in share}) == list(range(10))
    with pytest.raises(ValueError, match="Invalid rank 3"):
        module.utils.data.DistributedSampler(range(10), 3, 3)

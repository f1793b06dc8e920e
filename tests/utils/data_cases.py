"""What loaders, samplers and splits give after a seed; used by test_data.py and tools/record/data.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _dataset(torch: Any, n: int = 23) -> Any:
    return torch.utils.data.TensorDataset(torch.arange(2.0 * n).view(n, 2), torch.arange(n))


def _labels(torch: Any, **options: Any) -> list[Any]:
    return [labels.tolist() for _, labels in torch.utils.data.DataLoader(_dataset(torch), **options)]


def _two_epochs(torch: Any) -> list[Any]:
    loader = torch.utils.data.DataLoader(_dataset(torch), batch_size=6, shuffle=True)
    return [[labels.tolist() for _, labels in loader] for _ in range(2)]


def _sampled(torch: Any, make: Callable[[Any], Any]) -> list[Any]:
    sampler = make(torch.utils.data)
    return [list(sampler), list(sampler), len(sampler)]


def _split(torch: Any, lengths: list[float], **options: Any) -> list[Any]:
    return [s.indices for s in torch.utils.data.random_split(_dataset(torch), lengths, **options)]


CASES: dict[str, Callable[[Any], Any]] = {
    "plain": lambda torch: _labels(torch, batch_size=5),
    "shuffled": lambda torch: _labels(torch, batch_size=5, shuffle=True),
    "drop_last": lambda torch: _labels(torch, batch_size=5, shuffle=True, drop_last=True),
    "no_batches": lambda torch: _labels(torch, batch_size=None, shuffle=True),
    "generator": lambda torch: _labels(torch, batch_size=9, shuffle=True, generator=torch.Generator().manual_seed(4)),
    "two_epochs": _two_epochs,
    "random": lambda torch: _sampled(torch, lambda d: d.RandomSampler(range(10))),
    "random_more": lambda torch: _sampled(torch, lambda d: d.RandomSampler(range(10), num_samples=25)),
    "random_again": lambda torch: _sampled(torch, lambda d: d.RandomSampler(range(10), True, 70)),
    "subset": lambda torch: _sampled(torch, lambda d: d.SubsetRandomSampler([5, 6, 7, 8])),
    "weighted": lambda torch: _sampled(torch, lambda d: d.WeightedRandomSampler([0.1, 0.5, 0.2], 20)),
    "weighted_once": lambda torch: _sampled(torch, lambda d: d.WeightedRandomSampler([0.1, 0.5, 0.2], 3, False)),
    "batches": lambda torch: _sampled(torch, lambda d: d.BatchSampler(d.RandomSampler(range(10)), 3, True)),
    "split": lambda torch: _split(torch, [20, 3]),
    "split_shares": lambda torch: _split(torch, [0.5, 0.3, 0.2]),
    "split_generator": lambda torch: _split(torch, [11, 12], generator=torch.Generator().manual_seed(42)),
}


def outcome(torch: Any, name: str) -> Any:
    torch.manual_seed(7)
    result = CASES[name](torch)
    return [result, torch.rand(1).item()]  # the second shows that as much of the stream was used

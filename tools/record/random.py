"""tests/data/random.json: what PyTorch draws in the cases of tests/random."""

from __future__ import annotations

import torch

from tests.random.cases import CASES, SEEDS, digest
from tools.record.common import DATA, write


def main() -> None:
    write(DATA / "random.json", {name: {str(seed): digest(torch, name, seed) for seed in SEEDS} for name in CASES})

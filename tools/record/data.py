"""tests/data/data.json: what loaders, samplers and splits give in the cases of tests/utils."""

from __future__ import annotations

import torch
import torch.utils.data

from tests.utils.data_cases import CASES, outcome
from tools.record.common import DATA, write


def main() -> None:
    write(DATA / "data.json", {name: outcome(torch, name) for name in CASES})

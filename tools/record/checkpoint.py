"""tests/data/checkpoint.pt: a file that PyTorch wrote."""

from __future__ import annotations

import torch

from tools.record.common import DATA


def main() -> None:
    state = {
        "weight": (torch.arange(6.0).view(2, 3) / 2).requires_grad_(),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "index": torch.arange(6)[::2],
        "nested": {"epoch": 3, "name": "x", "shape": torch.Size([2, 3])},
    }
    torch.save(state, DATA / "checkpoint.pt")
    print("checkpoint.pt")

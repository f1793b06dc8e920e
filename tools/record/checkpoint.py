"""tests/data/checkpoint*.pt and checkpoints/: files that PyTorch wrote, the latter with the losses that follow."""

from __future__ import annotations

import torch

from tests.api.checkpoint_cases import FOLDER, RECORDED, Training
from tools.record.common import DATA


def main() -> None:
    state = {
        "weight": (torch.arange(6.0).view(2, 3) / 2).requires_grad_(),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "index": torch.arange(6)[::2],
        "nested": {"epoch": 3, "name": "x", "shape": torch.Size([2, 3])},
    }
    torch.save(state, DATA / "checkpoint.pt")
    base = torch.arange(10)
    old = {**state, "half": torch.tensor([1, 2.5], dtype=torch.bfloat16), "index": base[:6:2], "tail": base[5:]}
    torch.save(old, DATA / "checkpoint_old.pt", _use_new_zipfile_serialization=False)
    print("checkpoint.pt checkpoint_old.pt")
    for architecture, optimizer in RECORDED.items():
        training = Training(torch, architecture, optimizer)
        training.take(5)
        path = FOLDER / f"{architecture}.pt"
        checkpoint = training.state()
        torch.save({**checkpoint, "losses": Training(torch, architecture, optimizer).take(10)[5:]}, path)
        print(path.relative_to(DATA))

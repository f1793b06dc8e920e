"""Writes tests/data/checkpoint.pt with PyTorch: python tools/record_checkpoint.py, where torch is PyTorch."""

from pathlib import Path

import torch

TARGET = Path(__file__).resolve().parents[1] / "tests" / "data" / "checkpoint.pt"


def main() -> None:
    state = {
        "weight": (torch.arange(6.0).view(2, 3) / 2).requires_grad_(),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "index": torch.arange(6)[::2],
        "nested": {"epoch": 3, "name": "x", "shape": torch.Size([2, 3])},
    }
    torch.save(state, TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes with torch {torch.__version__}")


if __name__ == "__main__":
    main()

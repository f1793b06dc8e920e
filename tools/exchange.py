"""Checkpoints between vivace and PyTorch, both ways: python -m tools.exchange, where torch is PyTorch.

Five architectures with five optimizers each train in one library, are saved, and go on in both: the loaded state must
be the same bits, and five more losses must agree to float32's rounding.
"""

from __future__ import annotations

import io
import itertools
import sys
from types import ModuleType
from typing import Any

import torch

import vivace
from tests.api.checkpoint_cases import OPTIMIZERS, RECORDED, Training

TOLERANCE = 2e-5


def exchange(source: ModuleType, target: ModuleType, architecture: str, optimizer: str) -> str:
    """Trains in source, goes on in target; what is wrong, or nothing."""
    first = Training(source, architecture, optimizer)
    first.take(5)
    file = io.BytesIO()
    source.save(first.state(), file)
    saved = plain(first.state())
    file.seek(0)
    second = Training(target, architecture, optimizer)
    second.load(target.load(file))
    if plain(second.state()) != saved:
        return "another state"
    losses = list(zip(first.take(5), second.take(5), strict=True))
    worst = max(abs(a - b) / abs(a) for a, b in losses)
    return f"losses differ by {worst:.1e}" if worst > TOLERANCE else ""


def plain(state: Any) -> Any:
    """Tensors as their bytes, in the same structure."""
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [plain(value) for value in state]
    return state.detach().numpy().tobytes() if hasattr(state, "detach") else state


def main() -> int:
    """Returns 1 if a checkpoint does not go on."""
    failed = 0
    for source, target in ((torch, vivace), (vivace, torch)):
        for architecture, optimizer in itertools.product(RECORDED, OPTIMIZERS):
            if wrong := exchange(source, target, architecture, optimizer):
                failed += 1
                print(f"{source.__name__} to {target.__name__}: {architecture} with {optimizer}: {wrong}")
    print(f"{2 * len(RECORDED) * len(OPTIMIZERS) - failed} checkpoints go on, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

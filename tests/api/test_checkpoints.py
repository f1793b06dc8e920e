"""A training that was saved goes on as if it had not been: PyTorch's files in tests/data/checkpoints, and our own.

`make exchange` does the same with PyTorch beside vivace, in both directions.
"""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.api.checkpoint_cases import FOLDER, OPTIMIZERS, RECORDED, Training


@pytest.mark.parametrize("architecture", RECORDED)
def test_pytorch_training_goes_on(module: Any, architecture: str) -> None:
    state = module.load(FOLDER / f"{architecture}.pt")
    losses = state.pop("losses")
    training = Training(module, architecture, RECORDED[architecture])
    training.load(state)
    assert training.take(5) == pytest.approx(losses, rel=2e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("architecture", RECORDED)
def test_own_training_goes_on(module: Any, architecture: str, optimizer: str) -> None:
    first = Training(module, architecture, optimizer)
    first.take(5)
    file = io.BytesIO()
    module.save(first.state(), file)
    expected = first.take(5)
    file.seek(0)
    second = Training(module, architecture, optimizer)
    second.load(module.load(file))
    assert second.take(5) == expected

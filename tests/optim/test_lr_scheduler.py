"""Schedules give PyTorch's rates, saved and loaded at every epoch."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.optim import cases

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "nn" / "schedules.json").read_text())


@pytest.mark.parametrize("expression", cases.SCHEDULES)
def test_schedule(module: Any, expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = cases.schedule(module, expression)
    for mine, theirs in zip(rows, RECORDED[expression], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_order_of_steps(module: Any) -> None:
    optimizer = module.optim.SGD(cases.parameters(module), lr=0.1)
    scheduler = module.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


def test_step_hooks_with_a_scheduler(module: Any) -> None:
    optimizer = module.optim.SGD(cases.parameters(module), lr=0.1)
    module.optim.lr_scheduler.StepLR(optimizer, 1)
    log: list[int] = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(1))
    optimizer.step()
    assert log == [1]

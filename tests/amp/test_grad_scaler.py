"""GradScaler: what it multiplies, when it skips a step, how its factor moves."""

from __future__ import annotations

from typing import Any

import pytest


def trained(module: Any, scaler: Any, loss: float) -> Any:
    weight = module.nn.Parameter(module.ones(1))
    optimizer = module.optim.SGD([weight], lr=0.5)
    scaler.scale((weight * loss).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return weight


def test_steps_see_unscaled_gradients(module: Any) -> None:
    scaler = module.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    assert trained(module, scaler, 1.0).item() == 0.5
    assert scaler.get_scale() == 1024.0
    trained(module, scaler, 1.0)
    assert scaler.get_scale() == 2048.0


def test_infinite_gradients_skip_the_step(module: Any) -> None:
    scaler = module.amp.GradScaler("cpu", init_scale=4.0)
    assert trained(module, scaler, float("inf")).item() == 1.0
    assert scaler.get_scale() == 2.0


def test_order_of_calls(module: Any) -> None:
    scaler = module.amp.GradScaler("cpu")
    weight = module.nn.Parameter(module.ones(1))
    optimizer = module.optim.SGD([weight], lr=0.5)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)


def test_state(module: Any) -> None:
    scaler, other = module.amp.GradScaler("cpu", init_scale=8.0), module.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 8.0
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        other.load_state_dict({})


def test_disabled_without_a_device(module: Any) -> None:
    with pytest.warns(FutureWarning, match="deprecated"), pytest.warns(UserWarning, match="not available"):
        scaler = module.cuda.amp.GradScaler()
    assert not scaler.is_enabled() and scaler.state_dict() == {}
    assert trained(module, scaler, 1.0).item() == 0.5

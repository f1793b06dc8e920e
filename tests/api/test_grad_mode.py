"""no_grad and its kin: as context managers, nested, as decorators of functions and generators."""

from __future__ import annotations

from typing import Any

import pytest


def test_context_managers_nest_and_restore(module: Any) -> None:
    torch = module
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    same = torch.no_grad()
    with same, same:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_restored_after_an_exception(module: Any) -> None:
    with pytest.raises(ValueError), module.no_grad():
        raise ValueError
    assert module.is_grad_enabled()


def test_set_grad_enabled_acts_at_once(module: Any) -> None:
    torch = module
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_inference_mode(module: Any) -> None:
    torch = module
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        assert not torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("bare", [False, True])
def test_decorators(module: Any, bare: bool) -> None:
    torch = module

    def enabled() -> bool:
        """What it says."""
        return bool(torch.is_grad_enabled())

    decorated = torch.no_grad(enabled) if bare else torch.no_grad()(enabled)
    assert decorated() is False
    assert torch.is_grad_enabled()
    assert decorated.__name__ == "enabled"
    assert decorated.__doc__ == "What it says."
    assert torch.set_grad_enabled(False)(enabled)() is False
    assert torch.is_grad_enabled()


def test_generator_runs_in_the_mode_and_its_caller_does_not(module: Any) -> None:
    torch = module

    @torch.no_grad()
    def generator() -> Any:
        got = yield torch.is_grad_enabled()
        try:
            yield got
        except ValueError:
            yield "caught", torch.is_grad_enabled()
        return 5

    steps = generator()
    assert next(steps) is False
    assert torch.is_grad_enabled()
    assert steps.send(3) == 3
    assert steps.throw(ValueError()) == ("caught", False)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == 5
    assert torch.is_grad_enabled()

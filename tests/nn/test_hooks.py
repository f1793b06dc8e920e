"""Hooks of modules: order, what they may change, removal."""

from __future__ import annotations

from typing import Any

import pytest


def test_forward_hooks(module: Any) -> None:
    class Scaled(module.nn.Module):
        def forward(self, x: Any, factor: float = 1.0) -> Any:
            return x * factor

    layer = Scaled()
    log: list[Any] = []
    layer.register_forward_pre_hook(lambda m, args: log.append("pre"))
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {**kwargs, "factor": 3.0}), with_kwargs=True, prepend=True
    )
    first = layer.register_forward_hook(lambda m, args, out: log.append(("post", out.item())))
    layer.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["factor"], with_kwargs=True, prepend=True)
    assert layer(module.tensor(2.0)).item() == 9.0
    assert log == ["pre", ("post", 9.0)]
    first.remove()
    layer(module.tensor(2.0))
    assert log == ["pre", ("post", 9.0), "pre"]
    layer.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        layer(module.tensor(2.0))


def test_dicts_of_hooks_are_live(module: Any) -> None:
    layer = module.nn.Identity()
    layer._forward_hooks[123] = lambda m, args, out: out + 1
    assert layer(1) == 2
    layer._forward_hooks.clear()
    assert layer(1) == 1


def test_handle_as_context(module: Any) -> None:
    layer = module.nn.Identity()
    with layer.register_forward_hook(lambda m, args, out: out * 2):
        assert layer(3) == 6
    assert layer(3) == 3


def test_always_called(module: Any) -> None:
    layer = module.nn.Linear(2, 2)
    outputs: list[Any] = []
    layer.register_forward_hook(lambda m, args, out: outputs.append(out), always_call=True)
    with pytest.raises(RuntimeError):
        layer(module.ones(1, 7))
    assert outputs == [None]


def test_global_hooks(module: Any) -> None:
    names: list[str] = []
    handle = module.nn.modules.module.register_module_forward_hook(lambda m, a, o: names.append(type(m).__name__))
    net = module.nn.Sequential(module.nn.ReLU(), module.nn.Tanh())
    net(module.ones(1))
    handle.remove()
    net(module.ones(1))
    assert names == ["ReLU", "Tanh", "Sequential"]


def test_full_backward_hooks(module: Any) -> None:
    layer = module.nn.Linear(2, 3)
    log: list[Any] = []
    layer.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 2,))
    layer.register_full_backward_hook(
        lambda m, grad_in, grad_out: log.append((grad_in[0] is None, grad_out[0].sum().item()))
    )
    x = module.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert module.allclose(x.grad, 2 * layer.weight.sum(0, keepdim=True))
    layer(module.ones(1, 2)).sum().backward()
    assert log == [(False, 6.0), (True, 6.0)]
    with pytest.raises(RuntimeError, match="regular backward hooks and full backward hooks"):
        layer.register_backward_hook(lambda m, grad_in, grad_out: None)

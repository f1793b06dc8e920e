"""Hooks of tensors, and the handles that remove them."""

from __future__ import annotations

import gc
import weakref
from typing import Any


def test_tensor_hooks(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    seen: list[Any] = []
    double = x.register_hook(lambda grad: grad * 2)
    y = x * 3
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    assert seen == [[1.0, 1.0]]
    double.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_post_accumulate_hook(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]


def test_retain_grad(module: Any) -> None:
    x = module.ones(2, requires_grad=True)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6.0, 6.0]
    freed = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert freed() is None
    finally:
        gc.enable()


def test_handle_as_context(module: Any) -> None:
    x = module.ones(1, requires_grad=True)
    with x.register_hook(lambda grad: grad * 10):
        (x * 1).backward()
    assert x.grad.item() == 10
    x.grad = None
    (x * 1).backward()
    assert x.grad.item() == 1

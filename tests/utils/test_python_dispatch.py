"""utils/_python_dispatch.py: modes and classes with __torch_dispatch__."""

import pytest

import vivace as torch
from vivace.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from vivace.utils._pytree import tree_map


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func).removeprefix("aten."))
        return func(*args, **(kwargs or {}))


class Wrapper(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem):
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.shape, dtype=elem.dtype, device=elem.device, requires_grad=elem.requires_grad
        )
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda t: t.elem if isinstance(t, cls) else t, (args, kwargs or {}))
        return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, func(*args, **kwargs))


def test_mode_sees_operators_below_autograd():
    x = torch.ones(2, 3, requires_grad=True)
    with Log() as log:
        y = (x * 2 + 1).exp()
        z = x @ torch.ones(3, 2)
    assert log.names == ["mul.Tensor", "add.Tensor", "exp.default", "detach.default", "ones.default", "mm.default"]
    assert y.grad_fn.name() == "ExpBackward0"
    assert z.grad_fn.name() == "MmBackward0"


def test_mode_sees_backward():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    with Log() as log:
        y.backward()
    assert "mul.Tensor" in log.names
    assert "ones_like.default" in log.names
    assert torch.equal(x.grad, torch.full((2,), 2.0))


def test_modes_nest_and_can_be_switched_off():
    with Log() as outer, Log() as inner:
        torch.ones(2) + 1
        with _disable_current_modes():
            torch.ones(2)
    assert outer.names == inner.names == ["ones.default", "add.Tensor"]


def test_mode_replaces_results():
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return torch.zeros_like(func(*args, **(kwargs or {})))

    with Zeros():
        x = torch.ones(2) + 1
    assert torch.equal(x, torch.full((2,), 0.0))
    assert torch.equal(torch.ones(2), torch.full((2,), 1.0))


def test_wrapper_computes_by_its_class():
    w = Wrapper(torch.ones(2, 2)).requires_grad_()
    v = (w * w).exp().sum()
    v.backward()
    assert type(v) is Wrapper
    assert type(w.grad) is Wrapper
    assert torch.allclose(w.grad.elem, torch.full((2, 2), 2 * torch.e))
    assert v.item() == pytest.approx(4 * torch.e, rel=1e-6)


def test_wrapper_without_dispatch_is_refused():
    class Plain(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="__torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def test_wrapper_never_reaches_a_kernel():
    w = Wrapper(torch.ones(2))
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        torch._C._disabled_torch_dispatch_impl(torch.ops.aten.exp.default, (), (w,))


def test_in_place_on_wrapper_returns_it():
    w = Wrapper(torch.ones(2))
    version = w._version
    assert w.add_(1) is w
    assert w._version == version + 1
    assert torch.equal(w.elem, torch.full((2,), 2.0))


def test_nobody_answers():
    class Mute(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Mute(), pytest.raises(TypeError, match="Multiple dispatch failed for 'aten.ones.default'"):
        torch.ones(2)


def test_modes_see_operators_that_python_defines():
    @torch.library.custom_op("seen::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with Log() as log:
        twice(torch.zeros(2))
    assert log.names == ["zeros.default", "seen.twice.default"]  # as in PyTorch, not what its kernel calls
    inner = Wrapper(torch.ones(2))
    assert type(twice(inner)) is Wrapper and twice(inner).elem.tolist() == [2.0, 2.0]

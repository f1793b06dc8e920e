"""utils/_python_dispatch.py: modes and classes with __torch_dispatch__."""

import copy
import io
import pickle
import threading

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


def test_modes_see_pytorchs_operators():
    layer = torch.nn.Linear(4, 3)
    with Log() as log:
        loss = torch.nn.functional.cross_entropy(layer(torch.ones(2, 4)), torch.tensor([0, 1]))
    assert log.names == [
        "ones.default",
        "t.default",
        "addmm.default",
        "lift_fresh.default",
        "_log_softmax.default",
        "detach.default",
        "nll_loss_forward.default",
    ]
    with Log() as log:
        loss.backward()
    assert {"nll_loss_backward.default", "_log_softmax_backward_data.default", "mm.default"} <= set(log.names)


def test_derivatives_that_are_presented_are_the_plain_ones():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.GELU(), torch.nn.AvgPool2d(2), torch.nn.Flatten()
    )
    x, target = torch.randn(2, 3, 6, 6), torch.randn(2, 16)
    torch.nn.functional.mse_loss(model(x), target).backward()
    want = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with Log():
        torch.nn.functional.mse_loss(model(x), target).backward()
    for p, w in zip(model.parameters(), want, strict=True):
        torch.testing.assert_close(p.grad, w)


def test_step_of_an_optimizer_goes_through_the_class():
    for kind, options in (("SGD", {"momentum": 0.9}), ("Adam", {}), ("AdamW", {"amsgrad": True}), ("RMSprop", {})):
        plain, wrapped = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(Wrapper(torch.ones(3)))
        assert type(wrapped) is Wrapper
        for p in (plain, wrapped):
            optimizer = getattr(torch.optim, kind)([p], lr=0.1, **options)
            for _ in range(3):
                optimizer.zero_grad()
                (p * p).sum().backward()
                optimizer.step()
        torch.testing.assert_close(wrapped.elem, plain.detach(), msg=kind)


def test_gradients_are_clipped_in_operators():
    p = torch.nn.Parameter(Wrapper(torch.ones(4)))
    (p * 3).sum().backward()
    assert torch.nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(6)
    torch.testing.assert_close(p.grad.elem, torch.full((4,), 0.5))


def test_copies_and_pickles_of_wrappers():
    w = Wrapper(torch.arange(3.0))
    for made in (copy.deepcopy(w), pickle.loads(pickle.dumps(w)), copy.copy(w)):
        assert type(made) is Wrapper
        assert torch.equal(made.elem, w.elem)
    buffer = io.BytesIO()
    torch.save({"w": w}, buffer)
    buffer.seek(0)
    assert torch.equal(torch.load(buffer, weights_only=False)["w"].elem, w.elem)


def test_memory_of_wrappers_is_refused():
    w = Wrapper(torch.ones(2))
    assert w.data_ptr() == 0
    for read in (w.numpy, w.tolist):
        with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
            read()
    with pytest.raises(BufferError):
        w.__dlpack__()


def test_rules_for_one_operator():
    @torch.library.custom_op("seen::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @thrice.register_torch_dispatch(Log)
    def rule(mode, func, types, args, kwargs):
        mode.names.append("rule")
        return args[0] + 1

    x = torch.zeros(1)
    with Log() as log:
        assert thrice(x).item() == 1
    assert log.names[0] == "rule"
    assert thrice(x).item() == 0


def test_composite_operators_of_libraries_are_seen_as_their_parts():
    with torch.library._scoped_library("seen", "FRAGMENT") as library:
        library.define("parts(Tensor x) -> Tensor")
        library.impl("parts", lambda x: x.sin().cos(), "CompositeImplicitAutograd")
        with Log() as log:
            torch.ops.seen.parts(torch.ones(1))
    assert log.names == ["ones.default", "sin.default", "cos.default"]


def test_dispatching_classes_see_no_functions():
    class Below(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return torch._C._disabled_torch_dispatch_impl(func, types, args, kwargs or {})

    assert Below.__torch_function__ is torch._C._disabled_torch_function_impl
    t = torch.ones(2).as_subclass(Below)
    assert type(t + 1) is torch.Tensor
    with torch._C._DisableTorchDispatch():
        assert type(t + 1) is torch.Tensor


def test_modes_belong_to_a_thread():
    with Log() as log:
        thread = threading.Thread(target=lambda: torch.ones(2))
        thread.start()
        thread.join()
    assert log.names == []


def test_printing_is_not_seen():
    x = torch.ones(2)
    with Log() as log:
        repr(x)
    assert log.names == []

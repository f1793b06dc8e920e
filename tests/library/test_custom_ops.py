"""custom_op: what its definitions check, and how operators behave in modes and graphs."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest

import vivace as torch
from vivace import Tensor
from vivace.library import custom_op


@pytest.fixture
def half():
    @custom_op("t_custom::half", mutates_args=())
    def half(x: Tensor, n: int = 2) -> Tensor:
        return torch.from_numpy(x.numpy() / n)

    half.register_fake(lambda x, n=2: torch.empty_like(x))
    half.register_autograd(
        lambda ctx, g: (g / ctx.n, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "n", inputs[1])
    )
    yield half
    half._destroy()


def test_modes(half):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not half(x).requires_grad
    with torch.inference_mode():
        made = half(x)
        assert made.is_inference() and not made.requires_grad
    assert half(x, n=4).tolist() == [0.25, 0.25]
    assert half.__name__ == "half" and "t_custom::half" in repr(half)


def test_gradients_of_gradients(half):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: half(t, 3), x)
    assert torch.autograd.gradgradcheck(lambda t: half(t * t, 3), x)


def test_the_graph_lets_go_of_what_it_saved(half):
    @custom_op("t_custom::keep", mutates_args=())
    def keep(x: Tensor) -> Tensor:
        return x.clone()

    keep.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = torch.ones(3, requires_grad=True) * 1
    alive = weakref.ref(x)
    y = keep(x)
    del x
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_definition_again_replaces(half):
    @custom_op("t_custom::half", mutates_args=())
    def half(x: Tensor) -> Tensor:
        return x * 10

    assert torch.ops.t_custom.half(torch.ones(1)).item() == 10


def test_packets_and_overloads_are_kept(half):
    assert torch.ops.t_custom.half is torch.ops.t_custom.half
    assert torch.ops.t_custom.half.default is half._opoverload
    assert copy.deepcopy(half._opoverload) is half._opoverload
    assert half._opoverload.name() == "t_custom::half" and str(half._opoverload) == "t_custom.half.default"
    assert half._opoverload.has_kernel_for_dispatch_key("CPU") is False  # for all devices alike
    assert half._opoverload.has_kernel_for_dispatch_key("Meta")


def test_kernels_switched_off(half):
    half.register_kernel("cpu", lambda x, n=2: x * 100)
    assert half(torch.ones(1)).item() == 100
    with half.set_kernel_enabled("cpu", False):
        assert half(torch.ones(1)).item() == 0.5
    assert half(torch.ones(1)).item() == 100


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: custom_op("half", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor"), "namespace::name"),
        (lambda: custom_op("a::b", lambda x: x, mutates_args=()), "type annotation"),
        (lambda: custom_op("a::b", lambda x: x, mutates_args={"x"}, schema="(Tensor x) -> ()"), "mutated"),
    ],
)
def test_definitions_that_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_keyword_tensors_are_refused():
    def function(x: Tensor, *, y: Tensor) -> Tensor:
        return x + y

    with pytest.raises(NotImplementedError, match="kwarg-only Tensor"):
        custom_op("t_custom::keyword", function, mutates_args=())


def test_postponed_annotations():
    @custom_op("t_custom::postponed", mutates_args="unknown")
    def postponed(x: Tensor, xs: list[Tensor], k: float | None = None) -> None:
        x.zero_()

    written = str(postponed._opoverload._schema)
    assert written == "t_custom::postponed(Tensor(a0!) x, Tensor(a1!)[] xs, float? k=None) -> ()"
    x = torch.ones(2)
    assert postponed(x, []) is None and x.tolist() == [0, 0]
    assert postponed(x.to("meta"), []) is None


def test_a_formula_must_match_lists():
    @custom_op("t_custom::total", mutates_args=())
    def total(xs: list[Tensor]) -> Tensor:
        return sum(x.detach() for x in xs)

    total.register_autograd(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="as many"):
        total([torch.ones(1, requires_grad=True)]).backward()


def test_legacy_decorators_and_device_types():
    library = torch.library.Library("t_legacy", "DEF")

    @torch.library.define(library, "one(Tensor x) -> Tensor")
    def one(x):
        return x + 1

    torch.library.define("t_legacy::two", "(Tensor x) -> Tensor", lib=library)

    @torch.library.impl("t_legacy::two", ("cpu", "Meta"), lib=library)
    def two(x):
        return x + 2

    x = torch.ones(1)
    assert torch.ops.t_legacy.one(x).item() == 2 and torch.ops.t_legacy.two(x).item() == 3
    assert torch.ops.t_legacy.two(x.to("meta")).is_meta
    with pytest.raises(ValueError, match="no kernels for devices"):
        torch.library.impl("t_legacy::two", "quantum", two, lib=library)
    library._destroy()

"""Cycles through the graph, tensors and hooks: the collector finds all of them."""

import gc
import weakref

import pytest

import vivace as torch
from vivace.autograd.function import Function
from vivace.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from vivace.utils.checkpoint import checkpoint

CYCLES = []


class Canary:
    """Something that can be watched, put into each cycle."""


def cycle(make):
    CYCLES.append(make)
    return make


def leaf() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


class Keep(Function):
    """Calls `keep(ctx, x, y)` in its forward."""

    @staticmethod
    def forward(ctx, x, keep):
        y = x * 2
        keep(ctx, x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


@cycle
def output_as_attribute_of_ctx(canary):
    def keep(ctx, x, y):
        ctx.kept, ctx.canary = y, canary

    Keep.apply(leaf(), keep)


@cycle
def input_that_leads_to_ctx(canary):
    def keep(ctx, x, y):
        ctx.kept, ctx.canary, x.ctx = x, canary, ctx

    Keep.apply(leaf(), keep)


@cycle
def ctx_holds_itself(canary):
    def keep(ctx, x, y):
        ctx.me, ctx.canary = ctx, canary

    Keep.apply(leaf(), keep)


@cycle
def ctx_without_gradients(canary):
    def keep(ctx, x, y):
        ctx.kept, ctx.canary, y.ctx = y, canary, ctx

    Keep.apply(torch.ones(2), keep)


@cycle
def saved_output(canary):
    def keep(ctx, x, y):
        ctx.save_for_backward(y)
        ctx.canary = canary

    y = Keep.apply(leaf(), keep)
    y.grad_fn.output = y


@cycle
def saved_tensor_with_attribute(canary):
    def keep(ctx, x, y):
        x.ctx = ctx
        ctx.save_for_backward(x)
        ctx.canary = canary

    Keep.apply(leaf(), keep)


@cycle
def hook_that_holds_its_leaf(canary):
    x = leaf()
    x.register_hook(lambda grad, x=x, canary=canary: None)


@cycle
def hook_that_holds_its_result(canary):
    y = leaf() * 2
    y.register_hook(lambda grad, y=y, canary=canary: None)


@cycle
def post_accumulate_hook(canary):
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda t, x=x, canary=canary: None)


@cycle
def hook_of_a_node(canary):
    y = leaf() * 2
    y.grad_fn.register_hook(lambda inputs, outputs, y=y, canary=canary: None)


@cycle
def prehook_of_a_node(canary):
    y = leaf() * 2
    y.grad_fn.register_prehook(lambda outputs, y=y, canary=canary: None)


@cycle
def hook_of_accumulate_grad(canary):
    x = leaf()
    (x * 2).grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs, x=x, canary=canary: None)


@cycle
def metadata_of_a_node(canary):
    y = leaf() * 2
    y.grad_fn.metadata["all"] = y, canary


@cycle
def multi_grad_hook(canary):
    x, y = leaf(), leaf()
    register_multi_grad_hook((x, y), lambda grads: (x, y, canary))


@cycle
def attribute_of_a_tensor(canary):
    x = torch.ones(2)
    x.me, x.canary = x, canary


@cycle
def attribute_that_leads_through_the_graph(canary):
    x = leaf()
    x.result, x.canary = (x * 2).exp(), canary


@cycle
def grad_with_a_graph(canary):
    x = leaf()
    (x * x * x).sum().backward(create_graph=True)
    x.canary = canary


@cycle
def gradient_of_itself(canary):
    x = leaf()
    x.grad = torch.ones(2)
    x.grad.owner, x.canary = x, canary


@cycle
def pack_hook_that_returns_its_tensor(canary):
    x = leaf()
    with saved_tensors_hooks(lambda t: (t, x, canary), lambda packed: packed[0]):
        x.result = (x * x).exp()


@cycle
def unpack_hook_that_holds_the_result(canary):
    held = []
    x = leaf()
    with saved_tensors_hooks(lambda t: t, lambda packed: (packed, held, canary)[0]):
        held.append((x * x).exp())


@cycle
def view_that_its_base_holds(canary):
    x = torch.ones(4)
    x.view_of, x.canary = x[:2], canary


@cycle
def in_place_on_a_view(canary):
    x = leaf() * 1
    view = x[:1]
    view.mul_(2)
    x.view_of, x.canary = view, canary


@cycle
def retained_grad(canary):
    y = leaf() * 2
    y.retain_grad()
    y.sum().backward()
    y.grad.owner, y.canary = y, canary


@cycle
def checkpoint_that_holds_its_result(canary):
    held = []
    x = leaf()
    held.append(checkpoint(lambda t: (held, canary, t.exp())[2], x, use_reentrant=False))


@cycle
def module_with_backward_hooks(canary):
    module = torch.nn.Linear(2, 2)
    module.register_full_backward_hook(lambda m, inputs, outputs: (module, canary, None)[2])
    module.last = module(leaf())


@cycle
def error_that_holds_the_graph(canary):
    y = leaf() * 2

    def hook(grad):
        raise ValueError(canary)

    y.register_hook(hook)
    try:
        y.sum().backward()
    except ValueError as error:
        y.error = error


@pytest.mark.parametrize("make", CYCLES, ids=lambda make: make.__name__)
def test_cycle_is_collected(make):
    gc.collect()
    gc.disable()
    try:
        canary = Canary()
        reference = weakref.ref(canary)
        make(canary)
        del canary
        assert reference() is not None, "there is no cycle to collect"
        gc.collect()
        assert reference() is None
    finally:
        gc.enable()


def test_class_of_a_function_is_collected():
    def make():
        class Local(Keep):
            pass

        Local.apply(leaf(), lambda ctx, x, y: None).sum().backward()
        return weakref.ref(Local), weakref.ref(Local._backward_cls)

    references = make()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_long_chain_of_functions_is_freed_without_recursion():
    x = leaf()
    for _ in range(20_000):
        x = Keep.apply(x, lambda ctx, x, y: ctx.save_for_backward(x, y))
    del x

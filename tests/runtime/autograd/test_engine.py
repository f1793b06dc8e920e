"""Backward: accumulation, selection of inputs, reuse and lifetime of graphs."""

import gc
import weakref

import pytest

import vivace as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_gradients_add_up_over_calls_and_paths():
    x = leaf(1.0, 2.0)
    (x * x + x).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_broadcast_is_undone():
    a, b = torch.ones(3, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    c = torch.ones(3, 1, requires_grad=True)
    (a * b * c).sum().backward()
    assert a.grad.shape == (3, 4) and b.grad.tolist() == [3.0] * 4 and c.grad.tolist() == [[4.0]] * 3


def test_gradient_takes_the_dtype_of_its_leaf():
    x = leaf(1.0)
    (x.double() * 2).sum().backward()
    assert x.grad.dtype == torch.float32


def test_grad_returns_and_does_not_accumulate():
    x, y = leaf(3.0), leaf(4.0)
    gx, gy = torch.autograd.grad((x * y).sum(), (x, y))
    assert (gx.item(), gy.item()) == (4.0, 3.0) and x.grad is None and y.grad is None


def test_grad_of_an_intermediate_and_of_a_leaf_behind_it():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    gy, gx = torch.autograd.grad(z.sum(), (y, x))
    assert (gy.item(), gx.item()) == (3.0, 12.0)


def test_unused_input():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(x.sum(), (y,))
    assert torch.autograd.grad(x.sum(), (y,), allow_unused=True) == (None,)


def test_second_and_third_derivative():
    x = leaf(2.0)
    (first,) = torch.autograd.grad((x**4).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)


def test_backward_twice_needs_retain_graph():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 4.0
    with pytest.raises(RuntimeError, match="second time.*MulBackward0.*test_engine.py"):
        y.backward()


def test_backward_with_inputs_leaves_others_alone():
    x, y = leaf(1.0), leaf(1.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 1.0 and y.grad is None


def test_shape_of_the_gradient_is_checked():
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        leaf(1.0, 2.0).mul(2).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        leaf(1.0, 2.0).mul(2).backward(torch.ones(3))


def test_backward_inside_backward():
    x = leaf(3.0)
    seen = []

    def hook(grad):
        inner = leaf(2.0)
        with torch.enable_grad():
            (inner * inner).sum().backward()
        seen.append(inner.grad.item())
        return grad

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert seen == [4.0] and x.grad.item() == 2.0


def test_backward_through_the_graph_that_is_running():
    x = leaf(3.0)
    y = x * x
    inner = []
    z = y * 2

    def hook(grad):
        with torch.enable_grad():
            inner.append(torch.autograd.grad(y.sum(), x, retain_graph=True)[0].item())

    z.register_hook(hook)
    z.sum().backward()
    assert inner == [6.0] and x.grad.item() == 12.0


def test_exception_in_a_hook_leaves_the_graph_usable():
    x = leaf(3.0)
    y = x * x
    fail = [True]

    def hook(grad):
        if fail[0]:
            raise KeyError("from the hook")

    y.register_hook(hook)
    total = y.sum()
    with pytest.raises(KeyError):
        total.backward(retain_graph=True)
    fail[0] = False
    total.backward()
    assert x.grad.item() == 6.0


def test_a_long_chain_runs_and_is_freed_without_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_graphs_are_freed_by_counting():
    x = leaf(1.0, 2.0)
    gc.disable()
    try:
        for op in ("exp", "tanh", "sigmoid", "sqrt", "relu"):
            y = getattr(x, op)()
            z = y * y
            gone = weakref.ref(z)
            del y, z
            assert gone() is None, op
    finally:
        gc.enable()


def test_cycles_through_the_graph_are_collected():
    x = leaf(1.0)
    y = x * 2
    y.self = y
    y.register_hook(lambda g: y)  # noqa: F821
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None


def test_a_gradient_that_passes_through_is_not_shared():
    a, b = leaf(1.0), leaf(1.0)
    (a + b).sum().backward()
    a.grad.add_(5)
    assert b.grad.item() == 1.0


def test_nodes_have_the_names_and_edges_of_pytorch():
    x = leaf(1.0)
    y = (x * 2 + 1).sum()
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "SumBackward0"
    ((add, _),) = y.grad_fn.next_functions
    (mul, _), *_ = add.next_functions
    accumulate = mul.next_functions[0][0]
    assert (add.name(), mul.name()) == ("AddBackward0", "MulBackward0")
    assert type(accumulate).__name__ == "AccumulateGrad" and accumulate.variable is x


def test_post_accumulate_hook_sees_the_sum():
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [5.0]


def test_removed_hook_is_not_called():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    handle.remove()
    x.sum().backward()
    assert x.grad.item() == 1.0


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.item() == 3.0


def test_batched_gradients_are_stacked():
    x, unused = leaf(1.0, 2.0), leaf(1.0)
    weights = torch.tensor([[1.0, 0.0], [0.0, 10.0], [1.0, 1.0]])
    gx, none = torch.autograd.grad(x * x, (x, unused), weights, is_grads_batched=True, allow_unused=True)
    assert gx.tolist() == [[2.0, 0.0], [0.0, 40.0], [2.0, 4.0]] and none is None


def test_leaf_that_no_longer_requires_grad():
    x, y = leaf(1.0), leaf(2.0)
    z = (x * y).sum()
    y.requires_grad_(False)
    z.backward()
    assert x.grad.item() == 2.0 and y.grad is None


def test_cat_keeps_sizes_and_not_its_inputs():
    x = leaf(1.0, 2.0)
    part = x * 1
    reference = weakref.ref(part)
    y = torch.cat([part, torch.empty(0), part.detach() * 2])
    part.mul_(3)  # what backward does not need may change
    del part
    assert reference() is None
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_graph_without_saved_tensors_may_be_walked_again():
    x = leaf(1.0, 2.0)
    y = (x + x).view(2, 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_empty_inputs():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(x.sum(), [])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        x.sum().backward(inputs=[])


def test_only_inputs_is_taken_and_ignored():
    x, w = leaf(2.0), leaf(3.0)
    (g,) = torch.autograd.grad((x * w).sum(), x, None, True, False, True)
    assert g.tolist() == [3.0] and w.grad is None
    with pytest.warns(FutureWarning, match="only_inputs"):
        torch.autograd.grad((x * w).sum(), x, only_inputs=False)


def test_inputs_that_retain_their_gradient_get_it_once():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward(inputs=[x, y])
    assert y.grad.tolist() == [6.0, 12.0] and x.grad.tolist() == [18.0, 36.0]


def test_number_of_a_leaf_among_its_outputs_is_zero():
    """Memory of tensors is used again; what it says about an output that is gone must not count."""
    for _ in range(3):
        pieces = torch.zeros(8, requires_grad=True).unbind(0)
        assert pieces[-1].output_nr == 7
        del pieces
        x = leaf(1.0, 2.0)
        assert x.output_nr == 0
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            y = x * x
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert torch.autograd.grad((g * g).sum(), x)[0].tolist() == [8.0, 16.0]


def test_value_that_fills_one_place_twice():
    value = torch.tensor(1.0, requires_grad=True)
    y = torch.zeros(4).index_fill(0, torch.tensor([1, 1, 2]), value)
    (y * torch.tensor([1.0, 2.0, 4.0, 8.0])).sum().backward()
    assert value.grad == 6.0

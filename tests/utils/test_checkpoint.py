"""checkpoint: the same gradients as without, computed a second time."""

import contextlib

import pytest

import vivace as torch
from vivace.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("use_reentrant", [True, False])


class Counted(torch.nn.Module):
    """Linear, dropout, exp; counts its calls."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.dropout = torch.nn.Dropout(0.5)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.dropout(self.linear(x).tanh()).exp()


@pytest.fixture
def x():
    return torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)


def gradients(run, x, module):
    torch.manual_seed(0)
    x.grad = None
    module.zero_grad()
    module.calls = 0
    run().sum().backward()
    return x.grad, module.linear.weight.grad


@BOTH
def test_gradients_and_random_numbers_are_the_same(x, use_reentrant):
    module = Counted()
    plain = gradients(lambda: module(x), x, module)
    again = gradients(lambda: checkpoint(module, x, use_reentrant=use_reentrant), x, module)
    assert module.calls == 2
    for a, b in zip(plain, again, strict=True):
        assert torch.equal(a, b)


@BOTH
def test_the_stream_of_random_numbers_goes_on(x, use_reentrant):
    torch.manual_seed(0)
    checkpoint(torch.nn.Dropout(0.5), x, use_reentrant=use_reentrant).sum().backward()
    after = torch.rand(3)
    torch.manual_seed(0)
    torch.nn.Dropout(0.5)(x)
    assert torch.equal(after, torch.rand(3))


@BOTH
def test_nested(x, use_reentrant):
    module = Counted()

    def again(function, *args):
        return checkpoint(function, *args, use_reentrant=use_reentrant)

    plain = gradients(lambda: module(x.sin()) * 2, x, module)
    nested = gradients(lambda: again(lambda t: again(module, again(torch.sin, t)) * 2, x), x, module)
    for a, b in zip(plain, nested, strict=True):
        assert torch.equal(a, b)


def test_saved_tensors_are_not_kept(x):
    import weakref

    seen = []

    def function(t):
        y = t.exp()
        seen.append(weakref.ref(y))
        return y * y

    result = checkpoint(function, x, use_reentrant=False)
    assert seen[0]() is None
    result.sum().backward()
    assert torch.allclose(x.grad, 2 * (2 * x.detach()).exp())


def test_keywords_tuples_and_a_kept_graph(x):
    def function(t, *, k, other):
        return t.exp() * k, other

    result, other = checkpoint(function, x, use_reentrant=False, k=3, other="text")
    assert other == "text"
    result.sum().backward(retain_graph=True)
    result.sum().backward()
    assert torch.allclose(x.grad, 6 * x.detach().exp())


def test_second_derivative(x):
    y = checkpoint(lambda t: (t**3).exp().log(), x, use_reentrant=False)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, 6 * x.detach(), atol=1e-3)


def test_grad_and_inputs_need_the_variant_without_reentry(x):
    assert torch.autograd.grad(checkpoint(torch.exp, x, use_reentrant=False).sum(), x)[0].shape == x.shape
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad\(\)"):
        torch.autograd.grad(checkpoint(torch.exp, x, use_reentrant=True).sum(), x)


def test_early_stop(x):
    reached = []

    def function(t):
        y = t.exp()
        reached.append(0)
        return y

    checkpoint(function, x, use_reentrant=False).sum().backward()
    assert len(reached) == 1
    with set_checkpoint_early_stop(False):
        result = checkpoint(function, x, use_reentrant=False)
    result.sum().backward()
    assert len(reached) == 3


def changing(first, later):
    state = []

    def function(t):
        state.append(0)
        return (first if len(state) == 1 else later)(t)

    return function


def test_another_shape_the_second_time(x):
    function = changing(torch.exp, lambda t: t[:, :1].exp())
    with pytest.raises(CheckpointError, match=r"different metadata.*\n.*position 0"):
        checkpoint(function, x, use_reentrant=False).sum().backward()
    function = changing(torch.exp, lambda t: t[:, :1].exp())
    checkpoint(function, x, use_reentrant=False, determinism_check="none").sum().backward()


def test_another_number_of_tensors_the_second_time(x):
    function = changing(lambda t: t.exp().exp(), torch.exp)
    with pytest.raises(CheckpointError, match="saved during forward: 2\n.*recomputation: 1"):
        checkpoint(function, x, use_reentrant=False).sum().backward()


def test_modified_input(x):
    y = x * 1
    result = checkpoint(torch.sin, y, use_reentrant=False)
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*mul_\(\)"):
        result.sum().backward()


def test_contexts(x):
    entered = []

    @contextlib.contextmanager
    def named(name):
        entered.append(name)
        yield

    def contexts():
        return named("forward"), named("again")

    checkpoint(torch.exp, x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert entered == ["forward", "again"]


@BOTH
def test_without_gradients(x, use_reentrant):
    with torch.no_grad():
        assert not checkpoint(torch.exp, x, use_reentrant=use_reentrant).requires_grad


def test_what_does_not_need_gradients():
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.exp, torch.ones(1), use_reentrant=True)


def test_arguments(x):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint(torch.exp, x, use_reentrant=True, foo=2)
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(torch.exp, x, use_reentrant=False, determinism_check="maybe")
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, x)


@BOTH
def test_sequential(x, use_reentrant):
    layers = torch.nn.Sequential(*[torch.nn.Tanh() for _ in range(5)])
    (plain,) = torch.autograd.grad(layers(x).sum(), x)
    checkpoint_sequential(layers, 2, x, use_reentrant=use_reentrant).sum().backward()
    assert torch.equal(x.grad, plain)


def test_function_that_takes_gradients_itself(x):
    """What it saves so far is computed again already while it runs."""

    def slope(x):
        y = x.detach().requires_grad_() if x.grad_fn is None else x
        (g,) = torch.autograd.grad((y.sin() * y).sum(), y, create_graph=True)
        return g * x

    for stop in (True, False):
        (plain,) = torch.autograd.grad(slope(x * 1).sum(), x)
        (again,) = torch.autograd.grad(checkpoint(slope, x * 1, use_reentrant=False, early_stop=stop).sum(), x)
        assert torch.allclose(plain, again)


def test_second_derivatives(x):
    def f(x):
        return torch.nn.functional.cross_entropy(x.reshape(1, -1).sin(), torch.tensor([0]))

    def second(y):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        return torch.autograd.grad(g.sin().sum(), x)[0]

    assert torch.allclose(second(checkpoint(f, x * 2, use_reentrant=False)), second(f(x * 2)))

"""What hooks of tensors and nodes may return."""

import pytest

import vivace as torch

OTHER_TYPES = {
    "torch.DoubleTensor": lambda g: g.double(),
    "torch.IntTensor": lambda g: g.int(),
    "torch.FloatTensor": lambda g: g.to("meta"),
    "torch.sparse.FloatTensor": lambda g: g.to_sparse(),
}


def backward(register):
    """The gradient of a leaf after a backward with hooks at it, at its double and at the node of that."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)
    y.sum().backward()
    return x.grad


def named(function):
    function.__name__ = "mine"
    return function


PLACES = {
    "leaf": lambda hook: lambda x, y: x.register_hook(named(hook)),
    "result": lambda hook: lambda x, y: y.register_hook(named(hook)),
    "node, before": lambda hook: lambda x, y: y.grad_fn.register_prehook(named(lambda g: (hook(g[0]),))),
    "node, after": lambda hook: lambda x, y: y.grad_fn.register_hook(named(lambda g, _: (hook(g[0]), *g[1:]))),
    "AccumulateGrad, before": lambda hook: (
        lambda x, y: y.grad_fn.next_functions[0][0].register_prehook(named(lambda g: (hook(g[0]),)))
    ),
}


@pytest.mark.parametrize("kind", OTHER_TYPES)
@pytest.mark.parametrize("place", PLACES)
def test_gradient_of_another_type_is_refused(place, kind):
    text = f"^hook 'mine' has changed the type of value \\(was torch.FloatTensor got {kind}\\)"
    with pytest.raises(RuntimeError, match=text):
        backward(PLACES[place](OTHER_TYPES[kind]))


@pytest.mark.parametrize("place", PLACES)
def test_gradient_of_another_size_is_refused(place):
    with pytest.raises(RuntimeError, match="^hook 'mine' has changed the size of value"):
        backward(PLACES[place](lambda g: g[:1]))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_tensor_is_refused(place):
    with pytest.raises(TypeError, match="^expected Variable, but hook returned 'int'"):
        backward(PLACES[place](lambda g: 3))


@pytest.mark.parametrize("place", PLACES)
def test_gradient_is_replaced(place):
    assert backward(PLACES[place](lambda g: g * 2)).tolist() == [4.0, 4.0]


def test_hooks_of_nodes_return_as_many_gradients_as_there_were():
    with pytest.raises(TypeError, match="^expected tuple, but hook returned 'list'"):
        backward(lambda x, y: y.grad_fn.register_prehook(lambda g: [g[0]]))
    with pytest.raises(RuntimeError, match="has returned an incorrect number of values \\(got 2, but expected 1\\)"):
        backward(lambda x, y: y.grad_fn.register_prehook(lambda g: (g[0], g[0])))


@pytest.mark.parametrize("place", [place for place in PLACES if "before" in place])
def test_none_in_the_place_of_the_only_gradient_ends_the_way(place):
    assert backward(PLACES[place](lambda g: None)) is None


def test_none_is_not_replaced():
    x = torch.ones(2, requires_grad=True)
    first, second = (x * 1).unbind()
    first.grad_fn.register_prehook(lambda g: (g[0], g[0]))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        first.backward()
    assert second.grad_fn is first.grad_fn


def test_post_accumulate_hook_returns_nothing_of_use():
    with pytest.raises(TypeError, match="^expected Variable, but hook returned 'int'"):
        backward(lambda x, y: x.register_post_accumulate_grad_hook(lambda t: 5))

"""autograd.Function: both styles, what ctx can do, outputs that are inputs or views, errors."""

import warnings

import pytest

import vivace as torch
from vivace.autograd import Function
from vivace.autograd.function import FunctionCtx, once_differentiable


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


class Scale(Function):
    """Multiplies by a number; backward returns what `result(grad, k)` says."""

    @staticmethod
    def forward(ctx, x, k=2, result=lambda grad, k: (grad * k, None, None)):
        ctx.k, ctx.result = k, result
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return ctx.result(grad, ctx.k)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Product(Function):
    """The style with setup_context."""

    @staticmethod
    def forward(x, y, times=1):
        return x * y * times

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.times = inputs[2]

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * ctx.times, grad * x * ctx.times, None


def test_gradient_and_names():
    x = leaf(1.0, 2.0)
    y = Scale.apply(x, 3)
    node = y.grad_fn
    assert node.name() == "ScaleBackward" == type(node).__name__
    assert node.k == 3 and node.needs_input_grad == (True, False) and node.next_functions[0][0].variable is x
    assert type(node)._forward_cls is Scale
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_setup_context_and_keywords():
    x, y = leaf(2.0), leaf(5.0)
    Product.apply(x, y=y, times=3).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (15.0, 6.0)


def test_keywords_of_a_forward_that_takes_ctx():
    x = leaf(2.0)
    Scale.apply(x, k=3).sum().backward()
    assert x.grad.item() == 3
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Scale.apply(x, z=3)

    class ByKeyword(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *, k):
            return x * k

    with pytest.raises(TypeError, match="forward has to take k as positional"):
        ByKeyword.apply(x, k=3)


def test_second_derivatives_through_saved_inputs_and_outputs():
    x = leaf(0.5)
    (first,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.item() == pytest.approx(x.exp().item())
    a, b = leaf(2.0), leaf(5.0)
    (ga,) = torch.autograd.grad(Product.apply(a, b).sum(), a, create_graph=True)
    assert torch.autograd.grad(ga.sum(), b)[0].item() == 1.0


def test_vjp_is_another_name_of_backward():
    class Vjp(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 5

    x = leaf(1.0)
    Vjp.apply(x).sum().backward()
    assert x.grad.item() == 5.0

    class Both(Vjp):
        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        Both.apply(x)


def test_undefined_gradients_are_zeros_unless_told_otherwise():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2, "no tensor"

        @staticmethod
        def backward(ctx, *grads):
            seen.append([None if g is None else g.tolist() for g in grads])
            return grads[0], None

    x = leaf(1.0)
    for materialize in (True, False):
        first, _, text = Two.apply(x, materialize)
        assert text == "no tensor"
        first.sum().backward()
    assert seen == [[[1.0], [0.0], None], [[1.0], None, None]]


def test_non_differentiable_outputs():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, order = x.sort()
            shifted = values + 1
            ctx.mark_non_differentiable(shifted)
            ctx.save_for_backward(order)
            return values, order, shifted

        @staticmethod
        def backward(ctx, grad, *others):
            assert [o.tolist() for o in others] == [[0, 0], [0.0, 0.0]]
            (order,) = ctx.saved_tensors
            return torch.zeros_like(grad).scatter(0, order, grad)

    x = leaf(2.0, 1.0)
    values, order, shifted = Sorted.apply(x)
    assert [t.requires_grad for t in (values, order, shifted)] == [True, False, False]
    (values * torch.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [10.0, 1.0]


def test_in_place_on_an_argument():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(x)
    x = leaf(1.0, 2.0)
    y = x * 1
    assert Double.apply(y) is y and y.grad_fn.name() == "DoubleBackward" and y._version >= 1
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    x = leaf(1.0, 2.0)
    y = x * 1
    Double.apply(y[:1])  # by way of a view, the whole gets a history
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def test_dirty_tensors_have_to_be_outputs():
    class Forgets(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2

    with pytest.raises(RuntimeError, match="must all be outputs"):
        Forgets.apply(leaf(1.0) * 1)

    class Marks(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Marks.apply(leaf(1.0))


class Same(Function):
    """Gives its argument back, or a view of it."""

    @staticmethod
    def forward(ctx, x, as_view=False):
        return x.view(-1) if as_view else x

    @staticmethod
    def backward(ctx, grad):
        return grad * 10, None


@pytest.mark.parametrize("as_view", [False, True])
def test_returned_argument_has_the_functions_gradient(as_view):
    x = leaf(3.0)
    y = Same.apply(x, as_view)
    assert y is not x and y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert x.grad.item() == 10.0


@pytest.mark.parametrize("as_view", [False, True])
def test_returned_view_refuses_changes_that_would_go_around_backward(as_view):
    base = leaf(3.0) * 1
    y = Same.apply(base, as_view)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(2)
    z = Same.apply(base, as_view)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        z.sum()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda grad, k: (grad,), r"incorrect number of gradients \(expected 3, got 1\)"),
        (lambda grad, k: (grad, grad, None), "different from None at position 2"),
        (lambda grad, k: ("text", None, None), r"expected Variable or None \(got str\)"),
        (
            lambda grad, k: (torch.ones(3), None, None),
            r"invalid gradient at index 0 - got \[3\].*compatible with \[2\]",
        ),
    ],
)
def test_wrong_results_of_backward(result, message):
    y = Scale.apply(leaf(1.0, 2.0), 2, result)
    with pytest.raises(RuntimeError, match=message) as caught:
        y.sum().backward()
    assert "ScaleBackward" in str(caught.value) and "test_function.py" in str(caught.value)


def test_more_results_than_arguments_may_be_none():
    x = leaf(1.0)
    Scale.apply(x, 2, lambda grad, k: (grad, None, None, None, None)).sum().backward()
    assert x.grad.item() == 1.0


def test_exception_in_backward_gets_a_note():
    def fails(grad, k):
        raise KeyError("mine")

    y = Scale.apply(leaf(1.0), 2, fails)
    with pytest.raises(KeyError, match="mine") as caught:
        y.sum().backward()
    (note,) = caught.value.__notes__
    assert "ScaleBackward" in note and "test_function.py" in note


def test_saved_tensors_are_checked_and_freed():
    x = leaf(1.0)
    y = Exp.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = Exp.apply(x)
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*ExpBackward.*mul_\(\)"):
        y.sum().backward()


def test_saves_only_tensors():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None, 5)
            return x * 2

    with pytest.raises(TypeError, match="argument 2 is of type int"):
        Wrong.apply(leaf(1.0))


def test_without_gradients_nothing_is_recorded():
    x = leaf(1.0)
    with torch.no_grad():
        assert not Exp.apply(x).requires_grad and not Same.apply(x).requires_grad
    assert not Exp.apply(torch.ones(1)).requires_grad


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            assert not torch.is_grad_enabled()
            return grad * 2

    x = leaf(1.0)
    (grad,) = torch.autograd.grad(Once.apply(x).sum() ** 2, x, create_graph=True)
    assert grad.item() == 8.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_backward_inside_backward():
    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                (inner * inner).sum().backward()
            return grad * inner.grad

    x = leaf(3.0)
    Nested.apply(x).sum().backward()
    assert x.grad.item() == 6.0


def test_very_deep_backward_inside_backward():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.inner = (x.detach() - 1).requires_grad_()
            return ctx.inner.detach()

        @staticmethod
        def backward(ctx, grad):
            if ctx.inner > 0:
                with torch.enable_grad():
                    Deep.apply(ctx.inner).sum().backward()
            return grad

    x = torch.tensor(1500.0, requires_grad=True)
    Deep.apply(x).backward()
    assert x.grad.item() == 1.0


def test_a_function_all_of_whose_gradients_are_none_still_runs():
    seen = []

    class Stop(Scale):
        @staticmethod
        def backward(ctx, grad):
            return None, None, None

    x = leaf(1.0)
    Stop.apply(Scale.apply(x, 1, lambda grad, k: (seen.append(grad.tolist()) or grad, None, None))).sum().backward()
    assert seen == [[0.0]]


def test_many_arguments():
    class Sum(Function):
        @staticmethod
        def forward(ctx, *xs):
            return sum(xs)

        @staticmethod
        def backward(ctx, grad):
            return (grad,) * 100

    xs = [leaf(float(i)) for i in range(100)]
    Sum.apply(*xs).sum().backward()
    assert all(x.grad.item() == 1.0 for x in xs)


def test_instances_are_discouraged_and_the_context_class_stands_alone():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Scale()
    assert caught[0].category is DeprecationWarning
    ctx = FunctionCtx()
    assert Exp.forward(ctx, torch.zeros(1)).item() == 1.0 and len(ctx.to_save) == 1
    with pytest.raises(NotImplementedError):
        Function.forward()


def test_functions_are_not_called_as_objects():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = torch.autograd.Function()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        function(torch.ones(1))

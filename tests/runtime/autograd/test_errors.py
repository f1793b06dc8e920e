"""Errors of backward name the operator, the shapes, and the lines of the forward call and of the modification."""

import inspect
import re

import pytest

import vivace as torch


def line() -> int:
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno


def leaf() -> torch.Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def error_of(y: torch.Tensor, kind=RuntimeError) -> str:
    with pytest.raises(kind) as caught:
        y.sum().backward()
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def write_in_place(w):
    w.add_(1)


def write_by_a_view(w):
    w[:1].zero_()


def write_an_item(w):
    w[0] = 5


def write_under_no_grad(w):
    with torch.no_grad():
        w.copy_(torch.zeros(2))


def write_as_out(w):
    torch.mul(torch.ones(2), 2, out=w)


def write_by_an_operator(w):
    w *= 2


def write_detached(w):
    w.detach().sub_(1)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_in_place, "add_"),
        (write_by_a_view, "zero_"),
        (write_an_item, "fill_"),
        (write_under_no_grad, "copy_"),
        (write_as_out, "mul"),
        (write_by_an_operator, "mul_"),
        (write_detached, "sub_"),
    ],
)
def test_modified_saved_input(write, name):
    w = torch.tensor([3.0, 4.0])
    y = leaf() * w
    at = line() - 1
    write(w)
    text = error_of(y)
    assert "modified by an inplace operation" in text and "MulBackward0" in text and "shape [2]" in text
    assert f"test_errors.py:{at} in test_modified_saved_input" in text
    written = inspect.getsourcelines(write)[1]
    assert re.search(rf"{name}\(\) at .*test_errors\.py:({written + 1}|{written + 2}) in {write.__name__}", text)


def test_modified_saved_output():
    y = leaf().exp()
    y.mul_(2)
    at = line() - 1
    text = error_of(y)
    assert "output 0 of ExpBackward0" in text and f"mul_() at {__file__}:{at}" in text


def test_modified_index():
    index = torch.tensor([0, 1])
    y = leaf()[index]
    index.copy_(torch.tensor([1, 0]))
    assert "copy_()" in error_of(y)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop])
def test_parameters_that_an_optimizer_changed(optimizer):
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    loss = second(first(leaf())).sum()
    loss.backward(retain_graph=True)
    optimizer([*first.parameters(), *second.parameters()], lr=0.1).step()
    at = line() - 1
    assert re.search(rf"last modified by \w+\(\) at .*test_errors\.py:{at}", error_of(loss))


def test_freed_graph():
    y = leaf() * leaf()
    at = line() - 1
    y.sum().backward()
    text = error_of(y)
    assert "second time" in text and "MulBackward0 (output of shape [2]" in text and f"test_errors.py:{at}" in text


def test_hook_that_raises():
    y = leaf() * 2
    at = line() - 1
    y.register_hook(lambda grad: 1 / 0)
    text = error_of(y, ZeroDivisionError)
    assert "MulBackward0" in text and "shape [2]" in text and f"test_errors.py:{at}" in text


def test_hook_of_a_leaf_that_raises():
    x = leaf()
    x.register_hook(lambda grad: 1 / 0)
    assert "AccumulateGrad" in error_of(x * 2, ZeroDivisionError)


def test_hook_that_changes_the_shape():
    y = leaf() * 2
    y.register_hook(lambda grad: grad[:1])
    text = error_of(y)
    assert "from [2] to [1]" in text and "MulBackward0" in text and "test_errors.py" in text


def test_node_hook_that_returns_too_much():
    y = leaf() * leaf()
    y.grad_fn.register_hook(lambda inputs, outputs: (*inputs, None))
    assert "MulBackward0" in error_of(y)


def test_nan_under_anomaly_mode():
    x = torch.tensor([1.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = torch.sqrt(torch.sqrt(x - 2)).sum()
        at = line() - 1
        text = error_of(y)
    assert "'SqrtBackward0' returned nan values in its 0th output" in text and f"test_errors.py:{at}" in text
    assert "the forward value is NaN from SqrtBackward0" in text
    y = torch.sqrt(x - 2).sum()
    y.backward()
    assert x.grad.isnan().all()


def test_anomaly_mode_as_a_switch_and_without_the_check():
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (torch.sqrt(x) * 0).sum().backward()
    assert torch.is_anomaly_enabled() is False
    torch.autograd.set_detect_anomaly(True)
    try:
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        assert "SqrtBackward0" in error_of(torch.sqrt(x) * 0)
    finally:
        torch.autograd.set_detect_anomaly(False)


def test_error_inside_a_nested_backward_names_both():
    def hook(grad):
        with torch.enable_grad():
            z = leaf() * 3
            z.register_hook(lambda g: 1 / 0)
            z.sum().backward()

    y = leaf().exp()
    y.register_hook(hook)
    text = error_of(y, ZeroDivisionError)
    assert text.index("MulBackward0") < text.index("ExpBackward0")


def test_a_run_that_failed_leaves_the_graph_usable():
    x = leaf()
    y = x * x
    z = y.exp()
    handle = y.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.sum().backward(retain_graph=True)
    handle.remove()
    z.sum().backward()
    assert torch.allclose(x.grad, 2 * x.detach() * z.detach())


def test_out_with_arguments_that_require_grad() -> None:
    x = torch.ones(3, requires_grad=True)
    for call in (
        lambda: torch.mul(x, 2, out=torch.empty(3)),
        lambda: torch.stack([x, x], out=torch.empty(2, 3)),
        lambda: torch.softmax(x, 0, out=torch.empty(3)),
    ):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            call()
    assert torch.eq(x, 1, out=torch.empty(3, dtype=torch.bool)).all()
    assert torch.lt(x, 1, out=torch.empty(3)).tolist() == [0.0] * 3
    assert torch.argmax(x, out=torch.empty((), dtype=torch.int64)).item() == 0


def test_types_of_refusals() -> None:
    with pytest.raises(ValueError, match="eps must be non-negative"):
        torch.nn.functional.batch_norm(torch.ones(2, 3), torch.ones(3), torch.ones(3), eps=-1.0)
    with pytest.raises(IndexError, match="same number of elements"):
        torch.ones(3).put_(torch.tensor([1, 2]), torch.ones(1))


@pytest.mark.parametrize("loss", ["nll_loss", "cross_entropy"])
def test_class_weights_get_no_gradient(loss: str) -> None:
    scores, weight = torch.ones(3, 5, requires_grad=True), torch.ones(5, requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        getattr(torch.nn.functional, loss)(scores, torch.tensor([1, 2, 3]), weight)

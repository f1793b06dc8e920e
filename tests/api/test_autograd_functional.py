"""torch.autograd.functional, against derivatives by hand."""

import pytest

import vivace as torch
from vivace.autograd import functional as F

X = torch.tensor([1.0, 2.0, 3.0])
Y = torch.tensor([[1.0, 2.0, 3.0], [0.5, 1.0, 2.0]])


def test_jacobian_of_each_output_by_each_input():
    (ax, ay), (bx, by) = F.jacobian(lambda x, y: (x * y, y.sum()), (X, Y))
    assert ax.shape == (2, 3, 3) and ay.shape == (2, 3, 2, 3) and bx.tolist() == [0.0] * 3
    assert torch.equal(ax, torch.stack([torch.diag(row) for row in Y]))
    assert torch.equal(ay.reshape(6, 6).diagonal().reshape(2, 3), X.expand(2, 3)) and ay.count_nonzero() == 6
    assert by.tolist() == [[1.0] * 3] * 2
    for options in ({"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        assert torch.equal(F.jacobian(lambda x: x**2, X, **options), torch.diag(2 * X))


def test_hessian():
    assert torch.equal(F.hessian(lambda x: (x**3).sum(), X), torch.diag(6 * X))
    (xx, xy), (yx, yy) = F.hessian(lambda x, y: (x * y * y).sum(), (X, Y))
    assert xx.count_nonzero() == 0 and torch.equal(xy.reshape(3, 6).T, yx.reshape(6, 3))
    assert torch.equal(yy.reshape(6, 6), torch.diag((2 * X).expand(2, 3).reshape(6)))


def test_products():
    v = torch.tensor([1.0, 10.0, 100.0])
    for product in (F.vjp, F.jvp):
        value, result = product(lambda x: x**2, X, v)
        assert torch.equal(value, X**2) and torch.equal(result, 2 * X * v) and not result.requires_grad
    for product in (F.vhp, F.hvp):
        value, result = product(lambda x: (x**3).sum(), X, v)
        assert value.item() == 36.0 and torch.equal(result, 6 * X * v)
    _, (hx, hy) = F.hvp(lambda x, y: (x * y * y).sum(), (X, Y), (torch.ones(3), torch.ones(2, 3)))
    assert torch.allclose(hx, (2 * Y).sum(0)) and torch.allclose(hy, 2 * Y + 2 * X)


def test_results_can_be_differentiated():
    x = X.clone().requires_grad_()
    j = F.jacobian(lambda t: t**3, x, create_graph=True)
    assert torch.equal(torch.autograd.grad(j.sum(), x)[0], 6 * X)
    _, h = F.hvp(lambda t: (t**3).sum(), x, torch.ones(3), create_graph=True)
    assert torch.allclose(torch.autograd.grad(h.sum(), x)[0], torch.full((3,), 6.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.jacobian(lambda x: torch.ones(2), X, strict=True), "does not require gradients"),
        (lambda: F.jacobian(lambda x, y: x * 1, (X, Y), strict=True), "independent of input 1"),
        (lambda: F.hessian(lambda x: x**2, X), "should contain a single element"),
        (lambda: F.hessian(lambda x: x.sum(), X, strict=True), "independent of input"),
        (lambda: F.vjp(lambda x: x**2, X), "v can only be None"),
        (lambda: F.vjp(lambda x: x**2, X, torch.ones(2)), "v has invalid size"),
        (lambda: F.jvp(lambda x: x**2, X), "v can only be None"),
        (lambda: F.vhp(lambda x: (x, x), X, X), "should return a single Tensor"),
        (lambda: F.jacobian(lambda x: x, X, strict=True, vectorize=True), "not supported together"),
        (lambda: F.jacobian(lambda x: x, X, strict=True, strategy="forward-mode"), "not supported together"),
        (lambda: F.jacobian(lambda x: x, X, create_graph=True, strategy="forward-mode"), "not supported together"),
        (lambda: F.jacobian(lambda x: x, X, strategy="forward-mode"), "only implemented for `vectorize=True`"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_forward_mode():
    forward = {"vectorize": True, "strategy": "forward-mode"}
    for call in (lambda x, y: (x * y.sum(), y.exp()), lambda x, y: x.sum() * y.sum()):
        every = [F.jacobian(call, (X, Y)), F.jacobian(call, (X, Y), **forward)]
        for want, got in zip(*map(torch.utils._pytree.tree_leaves, every), strict=True):
            assert torch.allclose(want, got) and not got.requires_grad
    energy = lambda x, y: (x**3).sum() * y.exp().sum()
    every = [
        F.hessian(energy, (X, Y), vectorize=True, outer_jacobian_strategy=s) for s in ("reverse-mode", "forward-mode")
    ]
    for want, got in zip(*map(torch.utils._pytree.tree_leaves, every), strict=True):
        assert torch.allclose(want, got) and not got.requires_grad


def test_wrong_types():
    with pytest.raises(TypeError, match="outputs of the user-provided function"):
        F.jacobian(lambda x: 5, X)
    with pytest.raises(TypeError, match="inputs given to jacobian"):
        F.jacobian(lambda x: x, [X])


def test_independent_inputs_get_zeros():
    assert F.jacobian(lambda x, y: x * 1, (X, Y))[1].shape == (3, 2, 3)
    assert F.hessian(lambda x: x.sum(), X).count_nonzero() == 0
    assert F.vjp(lambda x: torch.ones(()), X)[1].tolist() == [0.0] * 3

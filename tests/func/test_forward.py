"""torch.func.jvp, jacfwd, hessian and linearize: forward mode, nested and with backward."""

import pytest

import vivace as torch
from vivace.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

X, Y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, -1.0, 2.0])
ONE = torch.tensor(1.0)


def close(a, b):
    return torch.allclose(a, torch.as_tensor(b), rtol=1e-5)


def test_jvp():
    output, product = jvp(torch.exp, (X,), (Y,))
    assert close(output, X.exp()) and close(product, Y * X.exp()) and not product.requires_grad
    (total, _), tangents = jvp(lambda d, y: (d["a"] + y, {"b": d["a"] * y}), ({"a": X}, Y), ({"a": Y}, X))
    assert close(total, X + Y) and close(tangents[0], X + Y) and close(tangents[1]["b"], Y * Y + X * X)
    _, product, aux = jvp(lambda x: (x * 2, x + 1), (X,), (Y,), has_aux=True)
    assert close(product, 2 * Y) and aux.tolist() == [2, 3, 4]
    assert jvp(lambda x: Y, (X,), (Y,))[1].tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="The output of f is independent of the inputs"):
        jvp(lambda x: Y, (X,), (Y,), strict=True)
    with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
        jvp(torch.exp, X, Y)
    with pytest.raises(RuntimeError, match="the same python structure"):
        jvp(torch.exp, (X,), ({"a": Y},))
    with pytest.raises(RuntimeError, match="Expected primals to only contain Tensors"):
        jvp(torch.exp, (1.0,), (Y,))


def test_an_error_closes_the_level():
    with pytest.raises(ZeroDivisionError):
        jvp(lambda x: 1 / 0, (X,), (Y,))
    with torch.autograd.forward_ad.dual_level() as level:
        assert level == 0


def test_nested():
    cube = lambda x: x**3
    slope = lambda f: lambda x: jvp(f, (x,), (torch.ones_like(x),))[1]
    for derivative in (
        slope(slope(slope(cube))),
        slope(grad(slope(cube))),
        grad(slope(grad(cube))),
        slope(grad(grad(cube))),
    ):
        result = derivative(torch.tensor(2.0))
        assert result == 6 and not result.requires_grad
    # the tangents of one level are constants to another
    mixed = lambda x: x * slope(lambda y: x + y)(ONE)
    assert slope(mixed)(torch.tensor(5.0)) == 1
    assert slope(lambda x: slope(lambda y: x * y)(torch.tensor(3.0)))(torch.tensor(5.0)) == 1
    for f in (
        torch.exp,
        torch.tanh,
        lambda x: torch.softmax(x, 0).prod(),
        lambda x: torch.linalg.inv(x.diag() + 1).sum(),
    ):
        backward = lambda x, f=f: vjp(lambda y: vjp(f, y)[1](torch.ones_like(f(y)))[0], x)[1](Y)[0]
        assert close(jvp(lambda x, f=f: vjp(f, x)[1](torch.ones_like(f(x)))[0], (X,), (Y,))[1], backward(X))
        assert close(grad(lambda x, f=f: jvp(f, (x,), (Y,))[1].sum())(X), backward(X))


def test_outer_graphs():
    weight = torch.tensor(2.0, requires_grad=True)
    product = jvp(lambda x: x * x * weight, (X,), (Y,))[1]
    assert close(torch.autograd.grad(product.sum(), weight)[0], (2 * X * Y).sum())
    direction = Y.clone().requires_grad_()
    second = jvp(grad(lambda x: (x**3).sum()), (X,), (direction,))[1]
    assert close(torch.autograd.grad(second.sum(), direction)[0], 6 * X)
    with torch.no_grad():
        assert close(jvp(grad(lambda x: (x**3).sum()), (X,), (Y,))[1], 6 * X * Y)
    with torch.inference_mode():
        assert close(jvp(torch.exp, (X,), (Y,))[1], Y * X.exp())


def test_jacfwd():
    f = lambda x: x.sin() * x.sum()
    assert close(jacfwd(f)(X), jacrev(f)(X))
    first, second = jacfwd(lambda x, y: x * y, argnums=(0, 1))(X, Y)
    assert close(first, Y.diag()) and close(second, X.diag())
    matrix = torch.arange(6.0).view(2, 3)
    result, aux = jacfwd(lambda d: ({"p": d["m"] @ d["v"]}, d["v"]), has_aux=True)({"m": matrix, "v": X})
    assert result["p"]["m"].shape == (2, 2, 3) and close(result["p"]["v"], matrix) and aux.tolist() == X.tolist()
    assert close(jacfwd(jacfwd(lambda x: (x**3).sum()))(X), (6 * X).diag())
    assert close(hessian(lambda x: (x**3).sum() * x[0])(X), jacrev(jacrev(lambda x: (x**3).sum() * x[0]))(X))
    batch = torch.stack([X, Y])
    assert close(vmap(jacfwd(f))(batch), torch.stack([jacfwd(f)(X), jacfwd(f)(Y)]))


def test_linearize():
    calls = []

    def f(x, y):
        calls.append(1)
        return x * y.exp(), y

    output, multiply = linearize(f, X, Y)
    for tangents in ((X, Y), (Y, X)):
        for product, expected in zip(multiply(*tangents), jvp(f, (X, Y), tangents)[1], strict=True):
            assert close(product, expected) and not product.requires_grad
    assert len(calls) == 3 and close(output[0], X * Y.exp())
    with pytest.raises(RuntimeError, match="to have the same structure as the primals"):
        multiply((X, Y))

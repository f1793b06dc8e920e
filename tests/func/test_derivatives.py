"""torch.func: derivatives of functions, and functions of modules and of samples."""

import pytest

import vivace as torch
from vivace.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

X, Y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, -1.0, 2.0])


def close(a, b):
    return torch.allclose(a, torch.as_tensor(b), rtol=1e-5)


def test_grad():
    assert close(grad(lambda x: (x * x).sum())(X), 2 * X)
    assert [g.tolist() for g in grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(X, Y)] == [Y.tolist(), X.tolist()]
    assert grad(lambda d: (d["a"] * d["b"]).sum())({"a": X, "b": Y})["a"].tolist() == Y.tolist()
    assert grad(lambda x, y: y.sum())(X, Y).tolist() == [0, 0, 0]
    gradient, (value, extra) = grad_and_value(lambda x: (x.sum(), x + 1), has_aux=True)(X)
    assert gradient.tolist() == [1, 1, 1] and value == 6 and extra.tolist() == [2, 3, 4]
    with pytest.raises(RuntimeError, match="to return a scalar Tensor"):
        grad(lambda x: x)(X)


def test_derivatives_nest():
    cube = grad(grad(grad(lambda x: x**4)))
    assert cube(torch.tensor(2.0)) == 48
    mixed = grad(lambda x: grad(lambda y: x * x * y * y)(torch.tensor(3.0)))
    assert mixed(torch.tensor(5.0)) == 60


def test_results_keep_only_the_graph_of_others():
    weight = torch.tensor(2.0, requires_grad=True)
    assert not grad(lambda x: (x**3).sum())(X).requires_grad
    gradient = grad(lambda x: (x * x * weight).sum())(X)
    assert close(torch.autograd.grad(gradient.sum(), weight)[0], 12.0)
    parameter = X.clone().requires_grad_()
    second = torch.autograd.grad(grad(lambda x: (x**3).sum())(parameter).sum(), parameter)[0]
    assert close(second, 6 * X)
    with torch.no_grad():
        assert close(grad(lambda x: (x * x).sum())(X), 2 * X)


def test_products_with_jacobians():
    output, pull = vjp(torch.sin, X)
    assert close(output, X.sin()) and close(pull(Y)[0], Y * X.cos())
    (_, _), pull = vjp(lambda x, y: (x * y, x + y), X, Y)
    assert [g.tolist() for g in pull((Y, X))] == [(Y * Y + X).tolist(), (X * Y + X).tolist()]
    output, product = jvp(torch.exp, (X,), (Y,))
    assert close(output, X.exp()) and close(product, Y * X.exp())


def test_jacobians():
    expected = torch.diag(X.cos() * X.sum()) + X.sin().unsqueeze(1)
    for jacobian in (jacrev, jacfwd):
        assert close(jacobian(lambda x: x.sin() * x.sum())(X), expected)
    first, second = jacrev(lambda x, y: x * y, argnums=(0, 1))(X, Y)
    assert close(first, Y.diag()) and close(second, X.diag())
    assert close(hessian(lambda x: (x**3).sum())(X), (6 * X).diag())


def test_vmap():
    rows = torch.arange(6.0).view(2, 3)
    assert vmap(torch.dot)(rows, rows).tolist() == [5, 50]
    assert torch.vmap(lambda x, y: x * y, in_dims=(0, None))(rows, Y).tolist() == (rows * Y).tolist()
    columns, sums = vmap(lambda c: (c, c.sum()), in_dims=1, out_dims=(1, 0))(rows)
    assert columns.tolist() == rows.tolist() and sums.tolist() == rows.sum(0).tolist()
    assert vmap(lambda d: d["a"] + 1, in_dims=({"a": 1},))({"a": rows}).tolist() == (rows.t() + 1).tolist()
    assert vmap(vmap(lambda x: x * 2))(rows).tolist() == (rows * 2).tolist()
    assert close(vmap(grad(lambda x: (x**2).sum()))(rows), 2 * rows)
    same = vmap(lambda x: torch.rand(()), randomness="same")(X)
    assert same[0] == same[1] and len(set(vmap(lambda x: torch.rand(()), randomness="different")(X).tolist())) == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: vmap(lambda x: 3)(X), "must only return Tensors"),
        (lambda: vmap(lambda x, y: x)(X, torch.ones(2)), "same size in the mapped dimension"),
        (lambda: vmap(lambda x: x, in_dims=None)(X), "expected `in_dims` to be int"),
        (lambda: vmap(lambda x: x, in_dims=(0, 0))(X), "not compatible with the structure of `inputs`"),
        (lambda: vmap(lambda: X)(), "got no inputs"),
    ],
)
def test_vmap_refuses(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.fixture
def model():
    return torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False), torch.nn.BatchNorm1d(1).eval())


def test_functional_call(model):
    x = torch.ones(3, 2)
    weight = torch.full((1, 2), 2.0, requires_grad=True)
    output = functional_call(model, {"0.weight": weight}, (x,))
    assert close(output, torch.full((3, 1), 4.0 / (1 + 1e-5) ** 0.5))
    output.sum().backward()
    assert weight.grad is not None and model[0].weight.grad is None and model[0].weight is not weight
    buffers = {"1.running_mean": torch.full((1,), 4.0)}
    assert close(functional_call(model, ({"0.weight": weight}, buffers), x), torch.zeros(3, 1))
    with pytest.raises(RuntimeError, match="0.weight"):
        functional_call(model, {"0.weigth": weight}, x, strict=True)
    with pytest.raises(ValueError, match="multiple dictionaries"):
        functional_call(model, ({"0.weight": weight}, {"0.weight": weight}), x)


def test_tied_weights():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = torch.nn.Parameter(torch.ones(1))

        def forward(self):
            return self.a + self.b

    assert functional_call(Tied(), {"a": torch.tensor([5.0])}, ()).item() == 10
    assert functional_call(Tied(), {"a": torch.tensor([5.0])}, (), tie_weights=False).item() == 6


def test_gradients_of_each_sample(model):
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    x = torch.arange(6.0).view(3, 2)

    def loss(parameters, x):
        return functional_call(model, parameters, x.unsqueeze(0)).sum()

    gradients = vmap(grad(loss), in_dims=(None, 0))(parameters, x)
    assert close(gradients["0.weight"].squeeze(1), x / (1 + 1e-5) ** 0.5)


def test_ensembles(model):
    parameters, buffers = stack_module_state([model, model])
    assert parameters["0.weight"].shape == (2, 1, 2) and parameters["0.weight"].requires_grad
    assert buffers["1.running_mean"].shape == (2, 1)
    outputs = vmap(lambda p, b: functional_call(model, (p, b), torch.ones(1, 2)))(parameters, buffers)
    assert close(outputs[0], model(torch.ones(1, 2)))
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([model, torch.nn.Linear(1, 1)])

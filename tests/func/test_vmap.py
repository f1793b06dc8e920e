"""func/_vmap.py: what vmap takes and gives, levels, randomness, autograd.Function, forward mode in it."""

import pytest

import vivace as torch
from vivace.func import (
    debug_unwrap,
    functional_call,
    functionalize,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vjp,
    vmap,
)

X = torch.arange(12.0).view(3, 4) / 4
W = torch.linspace(-1, 1, 8).view(4, 2)


def close(a, b):
    return torch.allclose(a, b, rtol=1e-5, atol=1e-6)


def each(f, *columns):
    """f for each sample, in a loop."""
    return torch.stack([f(*sample) for sample in zip(*columns, strict=True)])


def test_where_the_batch_is():
    assert close(vmap(lambda x: x.cumsum(0), in_dims=1, out_dims=-1)(X), X.cumsum(0))
    doubled, total = vmap(lambda d: (d["a"] * 2, d["b"].sum()), in_dims=({"a": 0, "b": None},), out_dims=(1, 0))(
        {"a": X, "b": W}
    )
    assert torch.equal(doubled, 2 * X.t()) and torch.equal(total, W.sum().expand(3))
    assert torch.equal(vmap(lambda x: torch.ones(2))(X), torch.ones(3, 2))
    assert vmap(lambda x: torch.ones(2), out_dims=None)(X).shape == (2,)
    assert torch.equal(vmap(lambda x, scale: x * scale)(X, scale=3), 3 * X)
    assert close(vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(X[0], X[1]), torch.outer(X[0], X[1]))
    calls = []
    chunked = vmap(lambda x: calls.append(1) or x.sin(), chunk_size=2)(X)
    assert len(calls) == 2 and close(chunked, X.sin())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vmap(lambda x: 3)(X), ValueError, "must only return Tensors, got type <class 'int'>"),
        (
            lambda: vmap(lambda x: x, out_dims=None)(X),
            ValueError,
            "can not return a BatchedTensor when out_dim is None",
        ),
        (lambda: vmap(torch.add)(X, W), ValueError, r"got sizes \[3, 4\] for the mapped dimension"),
        (lambda: vmap(torch.sin, in_dims=2)(X), ValueError, "expected in_dim to satisfy -2 <= in_dim < 2"),
        (lambda: vmap(torch.sin, in_dims="a")(X), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(torch.sin, in_dims=(0, 0))(X), ValueError, "in_dims is not compatible with the structure"),
        (lambda: vmap(torch.sin, in_dims=None)(X), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(torch.sin, in_dims=(None,))(X), ValueError, "Expected at least one Tensor to vmap over"),
        (lambda: vmap(torch.sin)(3), ValueError, "We cannot vmap over non-Tensor arguments"),
        (lambda: vmap(lambda: 1)(), ValueError, "got no inputs"),
        (lambda: vmap(torch.sin, out_dims=(0, 0))(X), ValueError, "out_dims is not compatible with the structure"),
        (lambda: vmap(torch.sin, out_dims="a")(X), ValueError, "`out_dims` must be an int, None or a python"),
        (lambda: vmap(torch.sin, randomness="no")(X), RuntimeError, "Only allowed values for randomness"),
        (lambda: vmap(torch.sin, chunk_size=0)(X), ValueError, "chunk_size should be None or greater than 0"),
        (lambda: vmap(lambda x: x.sum().item())(X), RuntimeError, r"calling .item\(\) on a Tensor"),
        (lambda: vmap(lambda x: x if x.sum() else -x)(X), RuntimeError, "data-dependent control flow"),
        (lambda: vmap(lambda x: x.numpy())(X), RuntimeError, "Cannot access data pointer"),
        (lambda: vmap(lambda x: x.tolist())(X), RuntimeError, "Cannot access data pointer"),
        (lambda: vmap(lambda x: x.nonzero())(X), RuntimeError, "output dynamic shape"),
        (lambda: vmap(lambda x: x[x > 0])(X), RuntimeError, "indexing with a boolean mask"),
        (lambda: vmap(lambda x: torch.zeros(4).mul_(x))(X), RuntimeError, "inplace arithmetic"),
        (lambda: vmap(lambda x: torch.add(x, x, out=x))(X), RuntimeError, "doesn't work on out="),
        (
            lambda: vmap(lambda x: x.clone().requires_grad_())(X),
            RuntimeError,
            "attempting to call Tensor.requires_grad_",
        ),
        (lambda: vmap(lambda x: torch.randn(2))(X), RuntimeError, "in randomness error mode"),
        (lambda: vmap(torch.cumsum, (0, None))(X, 3), IndexError, r"range of \[-1, 0\], but got 3"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_samples_end_with_their_vmap():
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(RuntimeError, match="outside of the vmap"):
        kept[0] + 1
    assert torch.equal(X + 1, X.add(1))


def test_vmap_ends_where_the_function_raises():
    for _ in range(2):
        with pytest.raises(RuntimeError, match="item"):
            vmap(vmap(lambda x: x.item()))(X)
    assert float((X + 1).sum()) == float(X.sum()) + 12


def test_layers():
    torch.manual_seed(0)
    batch = torch.randn(3, 2, 5, 8)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0).eval()
    assert torch.allclose(vmap(layer)(batch), each(layer, batch), atol=1e-5)
    lstm = torch.nn.LSTM(8, 6, batch_first=True)
    assert torch.allclose(vmap(lambda x: lstm(x)[0])(batch), each(lambda x: lstm(x)[0], batch), atol=1e-5)
    weight = W.clone().requires_grad_()
    vmap(lambda x: (x @ weight).sum())(X).sum().backward()
    assert close(weight.grad, X.sum(0).unsqueeze(1).expand(4, 2))


def test_shown():
    shown = []
    vmap(lambda x: shown.append(repr(x)) or x)(torch.ones(2, 2))
    assert shown == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1., 1.],\n            [1., 1.]])\n)"]


def test_types_promote_as_samples_do():
    wide = X[:, 0].double()
    assert vmap(lambda a, b: a * b)(wide, X).dtype == torch.float32
    assert vmap(lambda a, b: a * b)(wide, X[:, 0]).dtype == torch.float64
    assert vmap(lambda a, b: a + b)(X[:, 0], torch.ones(3, 4, dtype=torch.int64)).dtype == torch.float32


def test_written_in_place():
    def f(x):
        y = x.clone()
        y[0] = 3.0
        y[1:3] *= 2
        y[-1] = y.sum()
        y.unsqueeze_(0).transpose_(0, 1)
        return y

    assert close(vmap(f)(X), each(f, X))
    given = X.clone()
    vmap(lambda x: x.add_(1))(given)
    assert torch.equal(given, X + 1)


def test_random_numbers():
    shape = (4, 3)
    one, other = vmap(lambda x: x + torch.randn(3), randomness="different")(torch.zeros(shape))[:2]
    assert not torch.equal(one, other)
    one, other = vmap(lambda x: x + torch.randn(3), randomness="same")(torch.zeros(shape))[:2]
    assert torch.equal(one, other)
    one, other = vmap(torch.nn.functional.dropout, randomness="same")(torch.ones(2, 40))
    assert torch.equal(one, other) and 0 < int((one == 0).sum()) < 40
    one, other = vmap(lambda x: x.clone().normal_(), randomness="same")(torch.zeros(2, 3))
    assert torch.equal(one, other)
    torch.manual_seed(0)
    whole = vmap(lambda x: torch.rand_like(x), randomness="different")(torch.zeros(shape))
    torch.manual_seed(0)
    assert torch.equal(whole, torch.rand(shape))
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        vmap(lambda x: torch.zeros(3).normal_(), randomness="different")(X)


def test_operator_without_rule_is_called_for_each_sample():
    with pytest.warns(UserWarning, match="batching rule for aten::histc"):
        found = vmap(lambda x: torch.histc(x, 4, 0, 3))(X)
    assert torch.equal(found, each(lambda x: torch.histc(x, 4, 0, 3), X))


def loss(w, x):
    return (x @ w).tanh().pow(2).sum()


def test_gradients_of_samples():
    assert close(vmap(grad(loss), (None, 0))(W, X), torch.stack([grad(loss)(W, x) for x in X]))
    assert close(vmap(grad(loss, argnums=1), (None, 0))(W, X), torch.stack([grad(loss, 1)(W, x) for x in X]))
    total = grad(lambda w: vmap(loss, (None, 0))(w, X).sum())(W)
    assert close(total, grad(lambda w: loss(w, X))(W))
    outer = grad(lambda w: vmap(grad(loss, argnums=1), (None, 0))(w, X).pow(2).sum())(W)
    assert close(outer, grad(lambda w: sum(grad(loss, 1)(w, x).pow(2).sum() for x in X))(W))
    _, pull = vjp(lambda x: (x @ W).sin(), X)
    directions = torch.linspace(-1, 1, 12).view(2, 3, 2)
    assert close(vmap(pull)(directions)[0], torch.stack([pull(d)[0] for d in directions]))
    assert not vmap(grad(loss), (None, 0))(W, X).requires_grad


def convolved(kernel, image):
    return torch.nn.functional.conv2d(image[None], kernel, stride=2, padding=1).pow(2).sum()


def test_gradients_of_images():
    torch.manual_seed(0)
    kernel, images = torch.randn(3, 2, 3, 3), torch.randn(4, 2, 6, 6)
    assert torch.allclose(
        vmap(grad(convolved), (None, 0))(kernel, images),
        torch.stack([grad(convolved)(kernel, image) for image in images]),
        rtol=1e-4,
    )


def test_jacobians_of_samples():
    f = lambda x: (x @ W).tanh()
    rows = torch.stack([jacrev(f)(x) for x in X])
    assert close(vmap(jacrev(f))(X), rows) and close(vmap(jacfwd(f))(X), rows)
    assert close(jacrev(f, chunk_size=3)(X), jacrev(f)(X)) and close(jacfwd(f)(X), jacrev(f)(X))
    scalar = lambda w, x: loss(w, x)
    second = torch.stack([jacrev(jacrev(scalar))(W, x) for x in X])
    assert close(vmap(hessian(scalar), (None, 0))(W, X), second)
    assert close(jacfwd(jacfwd(lambda x: loss(W, x)))(X[1]), jacrev(jacrev(lambda x: loss(W, x)))(X[1]))
    assert close(jacfwd(lambda w: vmap(lambda x: (x @ w).sin())(X))(W), jacrev(lambda w: (X @ w).sin())(W))


def test_directions_of_samples():
    f = lambda x: (x @ W).sin()
    push = lambda v: jvp(f, (X[0],), (v,))[1]
    assert close(vmap(push)(X), each(push, X))
    mixed = lambda v, y: jvp(lambda x, z: (x * z * y @ W).sin(), (X[0], y), (v, v))[1]
    assert close(vmap(mixed)(X, X), each(mixed, X, X))
    second = lambda v: jvp(grad(lambda x: f(x).sum()), (X[0],), (v,))[1]
    assert close(vmap(second)(X), each(second, X))
    captured = lambda v: jvp(lambda z: grad(lambda y: (z * y).exp().sum())(X[1]), (X[0],), (v,))[1]
    assert close(vmap(captured)(X), each(captured, X))
    multiply = linearize(f, X)[1]
    assert close(vmap(multiply)(torch.stack([X, 2 * X])), torch.stack([multiply(X), multiply(2 * X)]))
    value, product = jvp(vmap(lambda x: x.exp()), (X,), (X,))
    assert close(value, X.exp()) and close(product, X * X.exp())


def test_ensemble():
    torch.manual_seed(0)
    models = [torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    run = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))
    assert close(run(parameters, buffers, X), torch.stack([model(X) for model in models]))


def test_batch_norm():
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    with pytest.raises(RuntimeError, match="running_mean or running_var"):
        vmap(model)(torch.ones(2, 5, 4))
    assert replace_all_batch_norm_modules_(model) is model
    batch = torch.linspace(-1, 1, 40).view(2, 5, 4)
    assert close(vmap(model)(batch), each(model, batch))


def test_what_is_behind_samples():
    seen = []
    vmap(vmap(lambda x: seen.append((debug_unwrap(x, recurse=False), debug_unwrap(x))) or x))(X)
    assert seen[0][0].shape == (4,) and seen[0][1] is not None and torch.equal(seen[0][1], X)
    assert close(functionalize(lambda x: x.clone().add_(1))(X), X + 1)


class Sine(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x.sin() * y, x + 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * x.cos() * y + h, g * x.sin()


class Power(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None

    @staticmethod
    def vmap(info, in_dims, x, n):
        assert info.batch_size == 3 and in_dims == (0, None)
        return Power.apply(x, n), 0


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x


def test_functions():
    f = lambda x, y: Sine.apply(x, y)[0].sum() + Sine.apply(x, y)[1].sum()
    plain = lambda x, y: (x.sin() * y).sum() + (x + 1).sum()
    for argnum in (0, 1):
        assert close(vmap(grad(f, argnum), (0, None))(X, X[0]), vmap(grad(plain, argnum), (0, None))(X, X[0]))
    assert close(grad(lambda y: vmap(lambda x: f(x, y))(X).sum())(X[0]), X.sin().sum(0))
    assert close(
        vmap(vmap(lambda a, b: Sine.apply(a, b)[0], (None, 0)), (0, None))(X[0], X[1]), torch.outer(X[0].sin(), X[1])
    )
    assert close(vmap(lambda x: Power.apply(x, 3))(X), X**3)
    assert close(vmap(grad(lambda x: Power.apply(x, 3).sum()))(X), 3 * X**2)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(Plain.apply)(X)


def test_numbers_of_a_batch_are_indices():
    x, i = torch.arange(20.0).reshape(5, 4), torch.tensor([0, 3, 2, 1, 1])
    rows = torch.arange(5)
    assert torch.equal(vmap(lambda a, k: a[k])(x, i), x[rows, i])
    assert torch.equal(vmap(lambda k: x[k])(i), x[i])
    assert torch.equal(vmap(lambda k: x[k, k])(i[1:]), x[i[1:], i[1:]])

    def put(a, k):
        a = a.clone()
        a[k] = 7
        return a

    expected = x.clone()
    expected[rows, i] = 7
    assert torch.equal(vmap(put)(x, i), expected)

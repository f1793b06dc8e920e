"""The jvp of custom Functions."""

import pytest

import vivace as torch
from vivace.autograd import Function, forward_ad
from vivace.autograd.forward_ad import make_dual, unpack_dual

X, T = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def level():
    with forward_ad.dual_level():
        yield


def dual():
    return make_dual(X.clone(), T.clone())


def function(forward, jvp=None):
    body = {"forward": staticmethod(forward)}
    if jvp:
        body["jvp"] = staticmethod(jvp)
    return type("Custom", (Function,), body).apply


def test_what_jvp_gets():
    seen = []

    def forward(ctx, x, k, y):
        ctx.save_for_forward(x, y)
        ctx.k = k
        assert unpack_dual(x * 2).tangent is None, "forward sees no tangents"
        return x * y * k, x.long()

    def jvp(ctx, tx, k, ty):
        x, y = ctx.saved_tensors
        seen.append((tx.tolist(), k, ty.tolist(), unpack_dual(x).tangent))
        return ctx.k * (tx * y + x * ty), None

    product, whole = function(forward, jvp)(dual(), 3, X)
    assert seen == [(T.tolist(), None, [0, 0, 0], None)]
    assert unpack_dual(product).tangent.tolist() == (3 * T * X).tolist() and unpack_dual(whole).tangent is None
    apply = function(forward, jvp)
    assert apply(X, 2, X)[0].tolist() == (2 * X * X).tolist() and len(seen) == 1


def test_absent_tangents():
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y

    y = function(forward, lambda ctx, tx, ty: ty if tx is None else tx)(dual(), X)
    assert unpack_dual(y).tangent.tolist() == T.tolist()


def test_second_derivatives():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * t

    ones = torch.ones(3)
    inner = lambda x: torch.func.jvp(Cube.apply, (x,), (ones,))[1]
    assert torch.func.jvp(inner, (X,), (ones,))[1].tolist() == (6 * X).tolist()
    x = X.clone().requires_grad_()
    assert torch.autograd.grad(inner(x).sum(), x)[0].tolist() == (6 * X).tolist()


def dirty(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


@pytest.mark.parametrize(
    ("forward", "jvp", "error"),
    [
        (lambda ctx, x: x * 2, None, "You must implement the jvp function for custom autograd.Function to use it with"),
        (lambda ctx, x: x * 2, lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda ctx, x: x * 2, lambda ctx, t: t[:2], "has a different size than that of the original Tensor"),
        (lambda ctx, x: x * 2, lambda ctx, t: 3, r"expected Variable or None \(got int\) for grad output 0"),
        (dirty, lambda ctx, t: t * 2, "not modifying the forward mode gradients inplace"),
        (
            lambda ctx, x: x,
            lambda ctx, t: t,
            "is returning a view .or an input as-is. but the jvp is not returning a view",
        ),
        (
            lambda ctx, x: x.view(3, 1),
            lambda ctx, t: t.clone().view(3, 1),
            "not returning a view of the given grad input",
        ),
    ],
)
def test_errors(forward, jvp, error):
    with pytest.raises(RuntimeError, match=error):
        function(forward, jvp)(dual() * 1)


def test_in_place_and_views():
    d = dual() * 1
    assert function(dirty, lambda ctx, t: t.mul_(2))(d) is d and unpack_dual(d).tangent.tolist() == (2 * T).tolist()
    view = function(lambda ctx, x: x.view(3, 1), lambda ctx, t: t.view(3, 1))(d)
    assert unpack_dual(view).tangent.tolist() == (2 * T).view(3, 1).tolist()

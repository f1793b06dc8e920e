"""gradcheck and gradgradcheck: what is right passes, each kind of fault is found."""

import pytest

import vivace as torch
from vivace.autograd import Function, gradcheck, gradgradcheck
from vivace.autograd.gradcheck import GradcheckError


def real(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def complex_(*shape):
    return torch.randn(*shape, dtype=torch.complex128, requires_grad=True)


def wrong(backward):
    """x * 2 with another backward."""

    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

    Wrong.backward = staticmethod(backward)
    return Wrong.apply


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda a, b: (a @ b).exp(), (real(2, 3), real(3, 2))),
        (lambda a: (a.sin(), a.sum(), a.argmax()), (real(4),)),
        (lambda z: z * z.conj() + z.exp(), (complex_(2, 2),)),
        (lambda z: z.abs(), (complex_(3),)),
        (lambda x: torch.complex(x, x * 2), (real(3),)),
        (lambda x, k: x * k, (real(2), 3)),
        (lambda x: x.T, (real(2, 3),)),
        (lambda x: x * 2, (real(0, 3),)),
    ],
)
def test_right_gradients_pass(function, inputs, fast_mode):
    assert gradcheck(function, inputs, fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_second_derivatives(fast_mode):
    assert gradgradcheck(lambda a, b: (a @ b).exp(), (real(2, 2), real(2, 2)), fast_mode=fast_mode)
    assert gradgradcheck(lambda z: z * z.exp(), complex_(2), fast_mode=fast_mode)
    assert gradgradcheck(torch.sin, real(3), gen_non_contig_grad_outputs=True, fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_wrong_factor(fast_mode):
    function = wrong(lambda ctx, grad: grad * 3)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(function, real(2), fast_mode=fast_mode)
    assert gradcheck(function, real(2), raise_exception=False, fast_mode=fast_mode) is False


def test_forgotten_conjugate():
    class Times(Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * 2j

        @staticmethod
        def backward(ctx, grad):
            return grad * 2j

    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(Times.apply, complex_(2))


def test_backward_that_does_not_use_its_gradient():
    function = wrong(lambda ctx, grad: torch.full_like(grad, 2.0))
    with pytest.raises(GradcheckError):
        gradcheck(function, real(1))


def test_backward_that_is_different_each_time():
    calls = []

    def backward(ctx, grad):
        calls.append(0)
        return grad * (2 + 1e-7 * len(calls))

    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(wrong(backward), real(2))
    assert gradcheck(wrong(backward), real(2), nondet_tol=1e-4)


def test_backward_that_fails_without_a_gradient():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 3

    with pytest.raises((GradcheckError, TypeError)):
        gradcheck(Two.apply, real(2))


def test_wrong_second_derivative():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x.detach()

    x = real(2)
    assert gradcheck(Square.apply, x)
    with pytest.raises(GradcheckError):
        gradgradcheck(Square.apply, x)


def test_inputs():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(torch.exp, torch.ones(2))
    with pytest.raises(RuntimeError, match="dimension with stride 0"):
        gradcheck(torch.exp, torch.ones(1, dtype=torch.float64).expand(3).requires_grad_())
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(torch.neg, torch.ones(2, requires_grad=True), atol=1e-1, eps=1e-2)
    with pytest.raises(AssertionError, match="Setting check_batched_grad=True requires check_backward_ad to be True"):
        gradcheck(torch.exp, real(2), check_forward_ad=True, check_backward_ad=False, check_batched_grad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_forward_mode(fast_mode):
    every = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(torch.mul, (real(2), real(3, 2)), fast_mode=fast_mode, **every)
    assert gradcheck(lambda x: (x * x.conj(), x.abs()), complex_(3), fast_mode=fast_mode, check_forward_ad=True)
    assert gradcheck(lambda x, y: x.max(0) + (y,), (real(3), real(2)), fast_mode=fast_mode, check_forward_ad=True)
    assert gradgradcheck(lambda x: (x**3).sum(), real(3), fast_mode=fast_mode, check_fwd_over_rev=True)
    assert gradgradcheck(
        torch.linalg.inv, real(2, 2) + torch.eye(2), check_fwd_over_rev=True, check_rev_over_rev=False,
        check_undefined_grad=False,
    )  # fmt: skip


def test_wrong_jvp():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx, t):
            return 3 * ctx.saved_tensors[0] * t

    assert gradcheck(Square.apply, real(2))
    for fast_mode in (False, True):
        with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
            gradcheck(Square.apply, real(2), check_forward_ad=True, fast_mode=fast_mode)

"""The formula as a kernel for the dispatch key Autograd, written as an autograd.Function."""

import torch

library = torch.library.Library("formula", "FRAGMENT")
library.define("square(Tensor x) -> Tensor")
library.impl("square", lambda x: torch.from_numpy(x.detach().numpy() ** 2), "CPU")
library.impl("square", lambda x: torch.empty_like(x), "Meta")


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.formula.square(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


seen = []


def square_autograd(x):
    seen.append(x.requires_grad)
    return Square.apply(x)


library.impl("square", square_autograd, "Autograd")
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(grad,) = torch.autograd.grad(torch.ops.formula.square(x).sum(), x, create_graph=True)
print(grad.detach())
print(torch.autograd.grad(grad.sum(), x))
print(torch.ops.formula.square(torch.tensor([4.0])), seen)
print(torch.ops.formula.square(torch.empty(2, 3, device="meta")).shape)
print(torch.library.opcheck(torch.ops.formula.square.default, (x,), test_utils="test_schema"))


# The same formula, registered without a class.
library.define("cube(Tensor x, int n=3) -> Tensor")
library.impl("cube", lambda x, n=3: x.detach() ** n, "CompositeExplicitAutograd")


def remember(ctx, inputs, output):
    x, ctx.n = inputs
    ctx.save_for_backward(x)


def cube_backward(ctx, grad):
    return grad * ctx.n * ctx.saved_tensors[0] ** (ctx.n - 1), None


torch.library.register_autograd("formula::cube", cube_backward, setup_context=remember, lib=library)
y = torch.ops.formula.cube(x)
(grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
print(y.detach(), grad.detach(), torch.autograd.grad(grad.sum(), x)[0])

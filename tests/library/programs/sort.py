"""Several results, one of them without a gradient, and a backward that is an operator itself: the task of batches and
derivatives of operators written in NumPy.
"""

import numpy as np
import torch
from torch import Tensor


@torch.library.custom_op("numpy::sort", mutates_args=())
def numpy_sort(x: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    a = x.numpy()
    order = np.argsort(a, axis=dim)
    inverse = np.argsort(order, axis=dim)
    return tuple(map(torch.from_numpy, (np.take_along_axis(a, order, dim), order, inverse)))


@torch.library.custom_op("numpy::take", mutates_args=())
def numpy_take(x: Tensor, order: Tensor, inverse: Tensor, dim: int) -> Tensor:
    return torch.from_numpy(np.take_along_axis(x.numpy(), order.numpy(), dim))


def remember_order(ctx, inputs, output):
    _, order, inverse = output
    ctx.mark_non_differentiable(order, inverse)
    ctx.save_for_backward(order, inverse)
    ctx.dim = inputs[1]


def sort_backward(ctx, grad, *_):
    order, inverse = ctx.saved_tensors
    return numpy_take(grad, inverse, order, ctx.dim), None


def remember_take(ctx, inputs, output):
    _, order, inverse, dim = inputs
    ctx.save_for_backward(order, inverse)
    ctx.dim = dim


def take_backward(ctx, grad):
    order, inverse = ctx.saved_tensors
    return numpy_take(grad, inverse, order, ctx.dim), None, None, None


numpy_sort.register_autograd(sort_backward, setup_context=remember_order)
numpy_take.register_autograd(take_backward, setup_context=remember_take)

x = torch.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]], requires_grad=True)
values, order, inverse = numpy_sort(x, 1)
print(values.detach(), order, inverse, sep="\n")
print(values.requires_grad, order.requires_grad)
weights = torch.tensor([1.0, 10.0, 100.0])
(grad,) = torch.autograd.grad((values**2 * weights).sum(), x, create_graph=True)
print(grad.detach())
(second,) = torch.autograd.grad((grad**2).sum(), x)
print(second)
double = x.detach().double().requires_grad_()
print(torch.autograd.gradcheck(lambda t: numpy_sort(t, 1)[0], double))
print(torch.autograd.gradgradcheck(lambda t: numpy_sort(t, 1)[0] ** 2, double))

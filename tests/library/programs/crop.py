"""A function of another package as an operator: NumPy crops an image; the gradient is pasted where it was."""

import numpy as np
import torch
from torch import Tensor


@torch.library.custom_op("picture::crop", mutates_args=())
def crop(image: Tensor, box: list[int]) -> Tensor:
    left, top, right, bottom = box
    return torch.from_numpy(np.ascontiguousarray(image.numpy()[:, top:bottom, left:right]))


@crop.register_fake
def _(image, box):
    left, top, right, bottom = box
    return image.new_empty(image.shape[0], bottom - top, right - left)


@torch.library.custom_op("picture::paste", mutates_args=())
def paste(patch: Tensor, height: int, width: int, corner: list[int]) -> Tensor:
    out = np.zeros((patch.shape[0], height, width), dtype=np.float32)
    left, top = corner
    out[:, top : top + patch.shape[1], left : left + patch.shape[2]] = patch.numpy()
    return torch.from_numpy(out)


@paste.register_fake
def _(patch, height, width, corner):
    return patch.new_empty(patch.shape[0], height, width)


def remember(ctx, inputs, output):
    image, box = inputs
    ctx.size, ctx.box = image.shape, box


def crop_backward(ctx, grad):
    return paste(grad, ctx.size[1], ctx.size[2], ctx.box[:2]), None


crop.register_autograd(crop_backward, setup_context=remember)

image = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
patch = crop(image, [1, 0, 3, 2])
print(patch)
(patch * torch.tensor([1.0, 10.0]).reshape(2, 1, 1)).sum().backward()
print(image.grad)
print(tuple(crop(torch.empty(3, 8, 8, device="meta"), [0, 0, 5, 2]).shape))
print(torch.library.opcheck(crop, (image, [1, 0, 3, 2])))
print(torch.ops.picture.crop.default._schema)
try:
    paste(torch.ones(1, 2, 2, requires_grad=True), 4, 4, [0, 0]).sum().backward()
except RuntimeError as error:
    print(error)

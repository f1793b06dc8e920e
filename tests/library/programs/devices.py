"""One operator, a kernel for each type of device, and one for shapes alone."""

import numpy as np
import torch
from torch import Tensor


@torch.library.custom_op("numpy::cube", mutates_args=(), device_types="cpu")
def cube(x: Tensor) -> Tensor:
    return torch.from_numpy(np.power(x.numpy(), 3))


@cube.register_kernel("cuda")
def _(x):
    return x**3


try:
    cube(torch.empty(2, device="meta"))
except RuntimeError as error:
    print(str(error).partition(".")[0])
torch.library.register_fake("numpy::cube", lambda x: torch.empty_like(x))
print(cube(torch.empty(2, 5, device="meta")).shape)
print(cube(torch.tensor([1.0, 2.0, 3.0])))


@torch.library.register_kernel("numpy::cube", "cpu")
def _(x):
    print("the newer kernel runs")
    return x * x * x


print(torch.ops.numpy.cube(torch.tensor([1.0, 2.0, 3.0])))
print(cube)
with torch.no_grad():
    print(cube(torch.ones(1, requires_grad=True)).requires_grad)
print(cube(torch.ones(1, requires_grad=True)).requires_grad)

"""An operator that writes to an argument: what it changes is in its schema, and autograd knows of it."""

import numpy as np
import torch
from torch import Tensor


@torch.library.custom_op("numpy::sin_into", mutates_args={"output"})
def sin_into(input: Tensor, output: Tensor) -> None:
    np.sin(input.detach().numpy(), out=output.numpy())


x = torch.linspace(0.0, 1.5, 4)
y = torch.zeros(4)
print(sin_into(x, y))
print(torch.allclose(y, x.sin()), y._version)
print(torch.ops.numpy.sin_into.default._schema)
print(torch.library.opcheck(sin_into, (x, torch.zeros(4))))
w = torch.ones(4, requires_grad=True)
product = w * y
sin_into(x, y)
try:
    product.sum().backward()
except RuntimeError as error:
    print("modified by an inplace operation" in str(error))
try:
    sin_into.register_autograd(lambda ctx, grad: None)
except RuntimeError as error:
    print("non-functional" in str(error))

"""The layer below custom_op: a library defines operators, and kernels are registered by dispatch key."""

import torch

library = torch.library.Library("algebra", "DEF")
library.define("axpy(Tensor x, Tensor y, *, Scalar a=1) -> Tensor")
library.define("axpy.out(Tensor x, Tensor y, *, Scalar a=1, Tensor(a!) out) -> Tensor(a!)")
print(torch.ops.algebra.axpy.overloads())

try:
    torch.ops.algebra.axpy(torch.ones(2), torch.ones(2))
except NotImplementedError as error:
    print(type(error).__name__)


def axpy(x, y, *, a=1):
    return a * x + y


library.impl("axpy", axpy, "CompositeImplicitAutograd")


@torch.library.impl(library, "axpy.out", "CPU")
def axpy_out(x, y, *, a=1, out):
    return out.copy_(a * x + y)


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([10.0, 20.0])
result = torch.ops.algebra.axpy(x, y, a=3)
print(result.detach(), result.grad_fn is not None)
result.sum().backward()
print(x.grad)
out = torch.empty(2)
print(torch.ops.algebra.axpy.out(x.detach(), y, a=2, out=out) is out, out)
print(torch.ops.algebra.axpy.default, torch.ops.algebra.axpy.out.name(), torch.ops.algebra.axpy.out._schema)
print(repr(torch.ops.algebra.axpy), repr(torch.ops.algebra.axpy.default))
try:
    library.define("axpy(Tensor x) -> Tensor")
except RuntimeError as error:
    print("multiple times" in str(error))
try:
    print(torch.ops.algebra.nothing)
except AttributeError as error:
    print(error)
try:
    print(torch.ops.algebra.axpy.nothing)
except AttributeError as error:
    print(error)

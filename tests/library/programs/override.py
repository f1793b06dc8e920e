"""The kernel of a built-in operator is replaced, and comes back when the library goes."""

import torch

calls = []


def noisy_neg(x):
    calls.append(tuple(x.shape))
    return x * -1


def wrong_relu(x):
    return torch.full_like(x, 7.0)


with torch.library._scoped_library("aten", "IMPL") as library:
    library.impl("neg", noisy_neg, "CPU")
    library.impl(torch.ops.aten.relu.default, wrong_relu, "CPU")
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    print((-x).detach(), torch.neg(x).detach(), calls)
    print(torch.relu(x).detach(), torch.nn.functional.relu(x.detach()))
    (-x).sum().backward()
    print(x.grad)
    try:
        library.impl("neg", noisy_neg, "CPU", allow_override=False)
    except RuntimeError as error:
        print("already a kernel" in str(error))
print(torch.relu(torch.tensor([1.0, -2.0])), -torch.tensor([1.0]))

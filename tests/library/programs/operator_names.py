"""Operators by the names that PyTorch gives them, for functions that vivace has under names of its own."""

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not torch.ops.aten.detach.default:
            self.names.append(str(func).removeprefix("aten."))
        return func(*args, **(kwargs or {}))


def show(title, function, *tensors):
    leaves = [t.clone().requires_grad_() for t in tensors]
    with Names() as forward:
        result = function(*leaves)
    parts = result if isinstance(result, tuple) else (result,)
    weights = [torch.arange(1.0, part.numel() + 1).view(part.shape) for part in parts]
    with Names() as backward:
        found = torch.autograd.grad(parts, leaves, weights)
    sums = [f"{t.double().sum().item():.2f}" for t in (*parts, *found)]
    print(title, *forward.names, "|", *sorted(set(backward.names)), "|", *sums)


x = torch.linspace(-2, 2, 24).view(2, 3, 4)
show("narrow", lambda x: x.narrow(1, -2, 2), x)
show("split", lambda x: x.chunk(3), x)
show("relu6", F.relu6, x * 4)
show("hardtanh", F.hardtanh, x)
show("leaky_relu", F.leaky_relu, x)
show("elu", F.elu, x)
show("avg_pool1d", lambda x: F.avg_pool1d(x, 2, 1, 1), x)
show("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 2), x)
show("conv_transpose1d", lambda x, w: F.conv_transpose1d(x, w), x, torch.ones(3, 2, 2))
w = torch.linspace(-1, 1, 32).view(4, 2, 2, 2)
options = {"stride": (2, 1), "padding": (0, 1), "output_padding": (1, 0), "groups": 2, "dilation": (1, 2)}
show("conv_transpose2d", lambda x, w: F.conv_transpose2d(x, w, **options), x.view(1, 4, 3, 2), w)
with Names() as views:
    v = torch.zeros(4)
    v.narrow(0, 1, 2).add_(1)
    v.chunk(2)[1].mul_(3)
    print([t.tolist() for t in v.tensor_split(3)], [t.tolist() for t in v.tensor_split([1, 2])], v.square().tolist())
    print(*[torch.where(v > 0, *pair).tolist() for pair in ((v, 5.0), (2, v), (v.long(), 0.5))])
    pooled, places = F.max_pool1d(v.view(1, 1, 4), 2, return_indices=True)
    print(pooled.tolist(), places.tolist(), F.adaptive_max_pool1d(v.view(1, 1, 4), 2).tolist())
print(*[name for name in views.names if name not in ("lift_fresh.default", "_to_copy.default")])

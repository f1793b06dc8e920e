"""Trains a network whose hidden layer is binary: a custom autograd.Function passes gradients straight through sign().

python -m vivace examples/straight_through.py
"""

import os

import torch
import torch.nn as nn


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        """The gradient of a clamp to [-1, 1]: sign() itself has none."""
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(2, hidden)
        self.last = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.last(Binarize.apply(self.first(x)))[:, 0]


def main():
    torch.manual_seed(0)
    x = torch.rand(512, 2) * 2 - 1
    inside = (x.square().sum(1) < 0.5).float()  # a disc, which no single line cuts out
    model = Net(64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    steps = 300 if os.environ.get("EXAMPLE_SHORT") else 1000
    for step in range(steps + 1):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), inside)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (steps // 5) == 0:
            print(f"step {step:4d}  loss {loss.item():.4f}")
    right = ((model(x) > 0) == (inside > 0)).float().mean().item()
    print(f"{right:.1%} of the points right")
    assert right > 0.85, "the binary network did not learn the disc"


if __name__ == "__main__":
    main()

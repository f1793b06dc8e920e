"""A network learns on a device that is written in Python: numpy_device/ keeps its tensors in NumPy arrays.

The device computes sums, products and the like by itself, and leaves the rest to the CPU. Everything above it, such as
autograd, modules, the optimizer and checkpoints, is torch's own and knows nothing of it.
"""

import io
import os

import numpy_device
import torch
from torch import nn

SHORT = os.environ.get("EXAMPLE_SHORT") == "1"


def main():
    torch.manual_seed(0)
    x = torch.rand(128, 2) * 2 - 1
    inside = (x.square().sum(dim=1) < 0.6).float().unsqueeze(1)

    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)).to("npy")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    inputs, targets = x.npy(), inside.npy()
    steps = 60 if SHORT else 300
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  on {loss.device}")

    right = ((model(inputs) > 0) == (targets > 0.5)).float().mean().item()
    print(f"{right:.1%} of the points right; {torch.accelerator.memory_allocated()} bytes on {inputs.device}")
    assert right > 0.9

    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    again = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    again.load_state_dict(torch.load(file, map_location="cpu"))
    assert torch.allclose(again(x), model(inputs).cpu(), atol=1e-5)

    del model, optimizer, inputs, targets, loss
    assert not numpy_device.memory.blocks, "every block was given back"


main()

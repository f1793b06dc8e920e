"""A physics-informed network (Raissi et al., 2019): it solves the heat equation u_t = u_xx / 10 without data, by making
the residual small. Its loss holds second derivatives, so training takes third ones.

python -m vivace examples/heat_equation.py
"""

import math
import os

import torch
import torch.nn as nn

DIFFUSION = 0.1


def exact(x, t):
    """A rod that starts at sin(pi x) + sin(3 pi x) / 2, with its ends kept at 0: each sine fades at its own pace."""
    fade = DIFFUSION * math.pi**2
    return (-fade * t).exp() * (math.pi * x).sin() + 0.5 * (-9 * fade * t).exp() * (3 * math.pi * x).sin()


class Rod(nn.Module):
    """Temperature at position x and time t, both between 0 and 1."""

    def __init__(self, hidden=32):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, x, t):
        # The form gives the start and the ends exactly; the network learns what time adds.
        added = self.network(torch.stack([x, t], dim=-1)).squeeze(-1)
        return exact(x, torch.zeros_like(t)) + t * x * (1 - x) * added


def residual(rod, x, t):
    """How far u_t is from DIFFUSION u_xx."""
    x, t = x.requires_grad_(), t.requires_grad_()
    u = rod(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - DIFFUSION * u_xx


def main():
    torch.manual_seed(0)
    rod = Rod()
    steps = 2000 if os.environ.get("EXAMPLE_SHORT") else 10000
    optimizer = torch.optim.Adam(rod.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    x, t = torch.meshgrid(torch.linspace(0, 1, 41), torch.linspace(0, 1, 41), indexing="ij")
    for step in range(steps + 1):
        if step % (steps // 5) == 0:
            with torch.no_grad():
                error = (rod(x, t) - exact(x, t)).abs().max().item()
            print(f"step {step:4d}  largest error of the temperature {error:.4f}")
        loss = residual(rod, torch.rand(256), torch.rand(256)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    assert error < 0.05, "the network does not solve the equation"


if __name__ == "__main__":
    main()

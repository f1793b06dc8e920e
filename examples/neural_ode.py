"""A neural ordinary differential equation (Chen et al., 2018): it learns how a pendulum moves from watching some swing.

python -m vivace examples/neural_ode.py

Backward solves from the end to the beginning, one step at a time, so no graph of more than a step is ever kept.
"""

import os

import torch
import torch.nn as nn

DT, STEPS, WINDOW = 0.1, 100, 10


def runge_kutta(f, y):
    """One step of the classical fourth-order method for dy/dt = f(y)."""
    k1 = f(y)
    k2 = f(y + DT / 2 * k1)
    k3 = f(y + DT / 2 * k2)
    k4 = f(y + DT * k3)
    return y + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(f, steps, y):
    """All states from y on, [steps + 1, ...]."""
    states = [y]
    for _ in range(steps):
        states.append(runge_kutta(f, states[-1]))
    return torch.stack(states)


class AdjointSolve(torch.autograd.Function):
    """solve, whose backward takes the steps again."""

    @staticmethod
    def forward(ctx, f, steps, y, *parameters):
        states = solve(f, steps, y)
        ctx.f = f
        ctx.save_for_backward(states, *parameters)
        return states

    @staticmethod
    def backward(ctx, grad):
        states, *parameters = ctx.saved_tensors
        adjoint = grad[-1]  # the gradient by the state at the end of a step
        totals = [torch.zeros_like(p) for p in parameters]
        for state, direct in zip(states[:-1].flip(0), grad[:-1].flip(0), strict=True):
            with torch.enable_grad():
                state = state.detach().requires_grad_()
                end = runge_kutta(ctx.f, state)
            by_state, *by_parameters = torch.autograd.grad(end, (state, *parameters), adjoint)
            adjoint = direct + by_state
            totals = [total + g for total, g in zip(totals, by_parameters, strict=True)]
        return None, None, adjoint, *totals


class Law(nn.Module):
    """What the network believes of dy/dt."""

    def __init__(self, hidden=32):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, y):
        return self.network(y)

    def solve(self, steps, y):
        return AdjointSolve.apply(self, steps, y, *self.parameters())


def pendulum(y):
    """The truth, for angle and speed: it swings with some friction."""
    angle, speed = y.unbind(-1)
    return torch.stack([speed, -2 * angle.sin() - 0.1 * speed], dim=-1)


def check_gradients():
    """Those of the adjoint method against those that go through the graph of all steps."""
    law = Law(5).double()
    y = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    inputs = (y, *law.parameters())
    expected = torch.autograd.grad(solve(law, 4, y).sin().sum(), inputs)
    found = torch.autograd.grad(law.solve(4, y).sin().sum(), inputs)
    torch.testing.assert_close(found, expected)


def main():
    torch.manual_seed(0)
    check_gradients()
    starts = torch.stack([torch.linspace(-2.5, 2.5, 12), torch.zeros(12)], dim=1)
    watched = solve(pendulum, STEPS, starts[::2])
    unseen = solve(pendulum, STEPS, starts[1::2])
    law = Law()
    steps = 300 if os.environ.get("EXAMPLE_SHORT") else 3000
    optimizer = torch.optim.Adam(law.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps + 1):
        if step % (steps // 5) == 0:
            error = (law.solve(STEPS, unseen[0]) - unseen).detach().abs().mean().item()
            print(f"step {step:4d}  of pendulums that start elsewhere, the next 10 seconds are missed by {error:.3f}")
        start = torch.randint(0, STEPS - WINDOW, ()).item()
        seen = watched[start : start + WINDOW + 1]
        loss = (law.solve(WINDOW, seen[0]) - seen).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    assert error < 0.2 * unseen.abs().mean(), "the law was not found"


if __name__ == "__main__":
    main()

"""Learns how fast leaky integrators forget from what they do, with an operator written in C++; setup.py builds it.

python -m vivace examples/cpp_extension/train.py
"""

import os
import time

import leaky_cpp
import torch

SHORT = "EXAMPLE_SHORT" in os.environ


@torch.library.register_fake("leaky::integrate")
def _(x, decay):
    return torch.empty_like(x)


@torch.library.register_fake("leaky::integrate_backward")
def _(grad, y, decay):
    return torch.empty_like(grad), torch.empty_like(decay)


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(output, inputs[1])


def backward(ctx, grad):
    return torch.ops.leaky.integrate_backward(grad, *ctx.saved_tensors)


torch.library.register_autograd("leaky::integrate", backward, setup_context=setup_context)
integrate = torch.ops.leaky.integrate


def integrate_in_python(x, decay):
    state, states = torch.zeros(x.shape[1], dtype=x.dtype), []
    for step in x:
        state = decay * state + step
        states.append(state)
    return torch.stack(states)


def best_time(function, *args):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    torch.manual_seed(0)
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    decay = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(integrate(x, decay), integrate_in_python(x, decay))
    assert torch.autograd.gradcheck(integrate, (x, decay))
    torch.library.opcheck(integrate.default, (x, decay))

    spikes = (torch.rand(200, 16) < 0.1).float()
    true_decay = torch.rand(16) * 0.5 + 0.45
    observed = integrate(spikes, true_decay)
    loops = best_time(integrate_in_python, spikes, true_decay) / best_time(integrate, spikes, true_decay)
    print(f"200 steps of 16 units: {loops:.0f} times as fast as the loop in Python")

    logit = torch.zeros(16, requires_grad=True)
    optimizer = torch.optim.Adam([logit], lr=0.05)
    for step in range(200 if SHORT else 400):
        loss = (integrate(spikes, logit.sigmoid()) - observed).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.2e}")
    error = (logit.sigmoid() - true_decay).abs().max().item()
    half = leaky_cpp.half_life(logit.sigmoid())
    assert half.requires_grad
    print(f"decays are off by {error:.4f} at most; half is forgotten after {half.min():.1f} to {half.max():.1f} steps")
    assert error < 0.02


if __name__ == "__main__":
    main()

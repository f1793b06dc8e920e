"""A step of training a small network (8-16-4, ReLU, batch of 4) with Adam, its parts, and what modules add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.common import print_calls


def calls(torch: Any) -> dict[str, Callable[[], object]]:
    """Name to call."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, target = torch.randn(4, 8), torch.randn(4, 4)
    layer = model[0]
    identity = torch.nn.Identity()

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), target).backward()
        optimizer.step()

    step()
    return {
        "forward, backward, Adam": step,
        "forward": lambda: model(x),
        "optimizer.step()": optimizer.step,
        "module.weight": lambda: layer.weight,
        "Identity()(x)": lambda: identity(x),
    }


def main() -> None:
    """Prints the table."""
    print_calls("A small network", calls)


if __name__ == "__main__":
    main()

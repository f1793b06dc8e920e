"""Forward mode: operators on tensors with tangents, Jacobian-vector products of a function and of a small network."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.common import print_calls


def functions(torch: Any) -> dict[str, Callable[[], object]]:
    """Name to call."""
    x, t = torch.randn(4), torch.randn(4)
    first, second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 4)
    batch, direction = torch.randn(4, 8), torch.randn(4, 8)

    def network(data):
        return second(first(data).tanh())

    return {
        "func.jvp of a * a": lambda: torch.func.jvp(lambda a: a * a, (x,), (t,)),
        "func.jvp of a network (8-16-4, batch of 4)": lambda: torch.func.jvp(network, (batch,), (direction,)),
    }


def operators(torch: Any) -> dict[str, Callable[[], object]]:
    """Name to call. The level that they run in stays open."""
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    forward_ad.enter_dual_level()
    x, t = torch.randn(4), torch.randn(4)
    u, v = forward_ad.make_dual(x, t), forward_ad.make_dual(t, x)
    matrix = forward_ad.make_dual(torch.randn(64, 64), torch.randn(64, 64))
    return {
        "make_dual": lambda: forward_ad.make_dual(x, t),
        "a * b": lambda: u * v,
        "a + b": lambda: u + v,
        "a.exp()": lambda: u.exp(),
        "a.sum()": lambda: u.sum(),
        "a[0]": lambda: u[0],
        "a.softmax(0)": lambda: u.softmax(0),
        "64 x 64 product": lambda: matrix @ matrix,
    }


def main() -> None:
    """Prints the tables."""
    print_calls("Products with Jacobians", functions)
    print_calls("Operators on four floats with tangents", operators)


if __name__ == "__main__":
    main()

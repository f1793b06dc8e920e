"""Time of one small call, an empty lambda taken off: `a + b` on four floats, with grad, a backward, a Function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.common import best_alternating, frameworks, load, print_table


def calls(module: Any) -> dict[str, Callable[[], object]]:
    """Name to call, on tensors of four floats."""
    a, b = module.ones(4), module.ones(4)
    ag, bg = module.ones(4, requires_grad=True), module.ones(4, requires_grad=True)

    def backward() -> None:
        (ag * bg).sum().backward()

    class Same(module.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    return {
        "a + b": lambda: a + b,
        "a + b with grad": lambda: ag + b,
        "a * b with grad": lambda: ag * bg,
        "(a * b).sum().backward()": backward,
        "Function.apply": lambda: Same.apply(ag),
    }


def main() -> None:
    """Prints the table."""
    per_framework = {name: calls(load(name)) for name in frameworks()}
    rows = {
        label: best_alternating({name: per_framework[name][label] for name in per_framework})
        for label in next(iter(per_framework.values()))
    }
    print_table("One call on four floats, an empty lambda taken off", "ns", rows)


if __name__ == "__main__":
    main()

"""Time of one small call, an empty lambda taken off: `a + b` on four floats, with grad, a backward, a Function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.common import print_calls


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
    print_calls("One call on four floats", calls)


if __name__ == "__main__":
    main()

"""Operators written in Python: a call of one, with and without a gradient, through each way to name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.common import print_calls

_libraries: dict[str, Any] = {}  # an operator lives as long as its library


def calls(torch: Any) -> dict[str, Callable[[], object]]:
    """Name to call."""

    def scaled(x, k=2.0):
        return x * k

    scaled.__annotations__ = {"x": torch.Tensor, "k": float, "return": torch.Tensor}
    custom = torch.library.custom_op("benchmark::scaled", scaled, mutates_args=())
    custom.register_fake(lambda x, k=2.0: torch.empty_like(x))
    custom.register_autograd(
        lambda ctx, grad: (grad * ctx.k, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]),
    )
    library = _libraries[torch.__name__] = torch.library.Library("benchmark_plain", "DEF")
    library.define("scaled(Tensor x, float k=2.0) -> Tensor")
    library.impl("scaled", scaled, "CPU")
    packet, add = torch.ops.benchmark_plain.scaled, torch.ops.aten.add.Tensor
    plain = packet.default
    x, leaf = torch.ones(4), torch.ones(4, requires_grad=True)
    return {
        "custom_op": lambda: custom(x, 3.0),
        "custom_op, recorded": lambda: custom(leaf, 3.0),
        "custom_op, sum, backward": lambda: custom(leaf, 3.0).sum().backward(),
        "Library operator": lambda: plain(x, 3.0),
        "its packet": lambda: packet(x, 3.0),
        "aten.add.Tensor": lambda: add(x, x),
    }


def main() -> None:
    """Prints the table."""
    print_calls("A call of an operator from Python, on four floats", calls)


if __name__ == "__main__":
    main()

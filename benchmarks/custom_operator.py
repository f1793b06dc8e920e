"""Operators that programs define: a call of one in Python, with and without a gradient, through each way to name it;
the same in C++, and a function of an extension. Building it takes PyTorch most of a minute.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common import print_calls, print_table

_CPP = """
at::Tensor scaled(const at::Tensor& x, double k) { return x * k; }
at::Tensor doubled(const at::Tensor& x) {
  auto result = torch::empty(x.sizes(), x.options());
  const float* from = x.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i];
  return result;
}
TORCH_LIBRARY(benchmark_cpp, m) { m.def("doubled(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(benchmark_cpp, CPU, m) { m.impl("doubled", &doubled); }
"""
_build_seconds: dict[str, float] = {}
_libraries: dict[str, Any] = {}  # an operator lives as long as its library


def _build(torch: Any) -> Any:
    """The extension, built from nothing."""
    load_inline = importlib.import_module(f"{torch.__name__}.utils.cpp_extension").load_inline
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        made = load_inline(
            "benchmark_cpp", _CPP, functions=["scaled", "doubled"], extra_cflags=["-O2"], build_directory=folder
        )
        _build_seconds[torch.__name__] = time.perf_counter() - start
    return made


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
    extension = _build(torch)
    doubled = torch.ops.benchmark_cpp.doubled.default
    x, leaf = torch.ones(4), torch.ones(4, requires_grad=True)
    return {
        "custom_op": lambda: custom(x, 3.0),
        "custom_op, recorded": lambda: custom(leaf, 3.0),
        "custom_op, sum, backward": lambda: custom(leaf, 3.0).sum().backward(),
        "Library operator": lambda: plain(x, 3.0),
        "its packet": lambda: packet(x, 3.0),
        "aten.add.Tensor": lambda: add(x, x),
        "operator in C++": lambda: doubled(x),
        "function in C++": lambda: extension.doubled(x),
        "function in C++ of one operator": lambda: extension.scaled(x, 3.0),
    }


def main() -> None:
    """Prints the tables."""
    print_calls("A call of an operator from Python, on four floats", calls)
    print_table("Building the extension that was called", "s", {"twelve lines of C++": _build_seconds})


if __name__ == "__main__":
    main()

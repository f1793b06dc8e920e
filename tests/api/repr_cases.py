"""Tensors whose text is compared with PyTorch's; used by test_repr.py and tools/record/repr.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

INF, NAN = float("inf"), float("nan")
FLOATS = (
    [], [0.0], [1.0], [1.5], [NAN], [-INF, 1], [NAN, 1.5], [1e-5], [1e5, 1], [1e9], [1, 1e-3], [1000, 1], [1001, 1],
    [-0.0], [1e-10, 1e10], [3.0, NAN, INF], [123456.789], [0.00012], [0.99999], [1e8], [1.1e8], [-1.5, 2],
    [i / 7 for i in range(30)], [float(i) for i in range(30)],
)  # fmt: skip
SHAPES = ((), (1,), (2, 3), (2, 3, 4), (0,), (0, 3), (2, 0, 3), (1, 1, 1, 1), (1001,), (40, 40), (5, 300), (7, 7, 7, 7))
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "precise": {"precision": 8},
    "short": {"profile": "short"},
    "narrow": {"linewidth": 40},
    "summarised": {"threshold": 5, "edgeitems": 1},
    "scientific": {"sci_mode": True},
    "plain": {"sci_mode": False},
}


def _tensors(torch: Any) -> Iterator[Any]:
    for values in FLOATS:
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64):
            yield torch.tensor(values, dtype=dtype)
    for shape in SHAPES:
        count = 1
        for n in shape:
            count *= n
        numbers = torch.tensor([(i * 37 % 101) / 8 - 3 for i in range(count)]).view(shape)
        yield numbers
        yield numbers.to(torch.float64).requires_grad_()
        for dtype in (torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64):
            yield numbers.abs().to(dtype)
    yield torch.zeros(2, 3, requires_grad=True) * 2
    yield torch.nn.Parameter(torch.ones(2))
    yield torch.empty(2, 3, device="meta")
    yield torch.arange(12.0).view(3, 4).t()
    yield torch.tensor(2**40)
    for n in range(1, 12):
        yield (torch.arange(float(n)).requires_grad_() * 100).exp()


def texts(torch: Any, options: str) -> list[str]:
    torch.set_printoptions(**OPTIONS[options])
    try:
        return [repr(t) for t in _tensors(torch)]
    finally:
        torch.set_printoptions(profile="default")

"""Helpers for `samples=`: entries get a Sampler `s`; `s(x, y, dim=1)` is one call, `s.t(3, 4)` a tensor for it.

A sample is data (shapes, ranges, seeds), never an array: tests build it for vivace, NumPy and PyTorch alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spec:
    """A tensor to be made: uniform in [low, high), or the given values."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -3.0
    high: float = 3.0
    values: tuple[Any, ...] | None = None
    requires_grad: bool = True
    permuted: bool = False  # laid out with its dimensions reversed in memory

    def __str__(self) -> str:
        layout = "^T" if self.permuted else ""
        return f"{self.dtype}{list(self.shape)}{layout}"


@dataclass(frozen=True)
class Sample:
    """One call."""

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        parts = [_text(a) for a in self.args] + [f"{k}={_text(v)}" for k, v in self.kwargs]
        return "(" + ", ".join(parts) + ")"


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)) and any(isinstance(v, Spec) for v in value):
        return "[" + ", ".join(_text(v) for v in value) + "]"
    return str(value) if isinstance(value, Spec) else repr(value)


class Sampler:
    """Makes samples: `s(s.t(2, 3), dim=1)`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Sample:
        return Sample(args, tuple(kwargs.items()))

    def t(
        self,
        *shape: int,
        dtype: str = "float32",
        low: float = -3.0,
        high: float = 3.0,
        requires_grad: bool | None = None,
        permuted: bool = False,
    ) -> Spec:
        grad = dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
        return Spec(shape, dtype, low, high, None, grad if requires_grad is None else requires_grad, permuted)

    def ints(self, *shape: int, low: int = 0, high: int = 10, dtype: str = "int64") -> Spec:
        return Spec(shape, dtype, low, high, None, False)

    def mask(self, *shape: int) -> Spec:
        return Spec(shape, "bool", 0, 2, None, False)

    def values(
        self,
        *values: Any,
        dtype: str = "float32",
        shape: tuple[int, ...] | None = None,
        requires_grad: bool = True,
    ) -> Spec:
        """Exactly these, flat; `shape` defaults to one dimension."""
        grad = requires_grad and dtype.startswith(("float", "bfloat", "complex"))
        return Spec(shape if shape is not None else (len(values),), dtype, 0, 0, values, grad)


Samples = Callable[[Sampler], list[Sample]]


def one(low: float = -3.0, high: float = 3.0, requires_grad: bool | None = None) -> Samples:
    """For a unary operator: a matrix, an odd length, transposed, 0-dim, empty."""
    return lambda s: [
        s(s.t(*shape, low=low, high=high, permuted=permuted, requires_grad=requires_grad))
        for shape, permuted in (((3, 5), False), ((37,), False), ((4, 3), True), ((), False), ((0, 3), False))
    ]


def pairs(low: float = -3.0, high: float = 3.0, low2: float | None = None, high2: float | None = None) -> Samples:
    """For a binary operator: broadcast both ways, 0-dim, empty. The second operand may have its own range."""
    low2 = low if low2 is None else low2
    high2 = high if high2 is None else high2
    return lambda s: [
        s(s.t(3, 5, low=low, high=high), s.t(3, 5, low=low2, high=high2)),
        s(s.t(3, 1, low=low, high=high), s.t(5, low=low2, high=high2)),
        s(s.t(4, 3, low=low, high=high, permuted=True), s.t(4, 3, low=low2, high=high2)),
        s(s.t(37, low=low, high=high), s.t(low=low2, high=high2)),
        s(s.t(low=low, high=high), s.t(low=low2, high=high2)),
        s(s.t(0, 3, low=low, high=high), s.t(3, low=low2, high=high2)),
    ]


def shapes(*rest: Any, **kwargs: Any) -> Samples:
    """One tensor of several shapes, with the same further arguments."""
    return lambda s: [s(s.t(*shape), *rest, **kwargs) for shape in ((3, 5), (2, 3, 4), (7,))]

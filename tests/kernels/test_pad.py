"""Padding by reflection, replication and wrapping around, against NumPy, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vivace as torch

F = torch.nn.functional
RNG = np.random.RandomState(0)
NUMPY = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize(
    "pad", [(2, 1), (0, 3), (3, 2, 1, 0), (1, 1, 2, 2, 3, 1), (-1, 2), (2, -3), (-1, -2), (1, 2, -1, 1)]
)
def test_edges(mode: str, pad: tuple[int, ...]) -> None:
    dims = len(pad) // 2
    x = RNG.randn(2, 3, *(5, 4, 6)[-dims:])
    widths = [(0, 0), (0, 0)] + [(pad[2 * k], pad[2 * k + 1]) for k in reversed(range(dims))]
    places = np.arange(x.size).reshape(x.shape)  # where each element of the result comes from

    def cut(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return array[tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, array.shape, strict=True))]

    # Negative padding cuts off last, but first where the rest goes round.
    positive = [(max(a, 0), max(b, 0)) for a, b in widths]
    whole = np.pad(cut(places), positive, "wrap") if mode == "circular" else cut(np.pad(places, positive, NUMPY[mode]))
    for dtype in (torch.float64, torch.float32, torch.int64, torch.complex64):
        t = torch.from_numpy(x).to(dtype) if dtype != torch.int64 else torch.from_numpy((x * 9).astype(np.int64))
        np.testing.assert_array_equal(F.pad(t, pad, mode).numpy(), t.numpy().ravel()[whole])
    t = torch.from_numpy(x).requires_grad_()
    weights = RNG.randn(*whole.shape)
    F.pad(t, pad, mode).backward(torch.from_numpy(weights))
    want = np.zeros(x.size)
    np.add.at(want, whole.ravel(), weights.ravel())
    np.testing.assert_allclose(t.grad.numpy().ravel(), want, atol=1e-12)

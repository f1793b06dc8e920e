"""Walks the catalogue on tensors of a private backend, forward and backward, and compares with the CPU."""

import numpy as np
import torch

from tests import support
from tests.support import array, make, numbered, outputs

UNINITIALISED = ("empty", "new_empty")
TO_CPU = ("cpu(", "to.device(")
NO_ARRAYS = {torch.bfloat16}


def on_device(call, with_grad):
    def move(t):
        return t.detach().npy().requires_grad_(with_grad and t.requires_grad)

    return call.map(move)


def total(results):
    recorded = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    return sum((r.real if r.is_complex() else r).sum() for r in recorded) if recorded else None


def compare(got, want, what):
    assert len(got) == len(want), what
    for g, w in zip(got, want, strict=True):
        if isinstance(w, torch.Tensor):
            assert (g.is_npy or what.startswith(TO_CPU)) and g.dtype == w.dtype and g.shape == w.shape, (what, g, w)
            assert np.allclose(array(g.detach().cpu()), array(w.detach()), rtol=1e-4, atol=1e-4, equal_nan=True), what


def check(entry, number, what, may_refuse):
    call = make(torch, entry, number)
    if support.draws_numbers(call) or entry.name.startswith(UNINITIALISED):
        return
    want = outputs(torch, call())
    if any(isinstance(w, torch.Tensor) and w.dtype in NO_ARRAYS for w in want):
        return
    moved = on_device(make(torch, entry, number), True)
    try:
        got = outputs(torch, moved())
        loss = total(got)
    except NotImplementedError as error:
        if not may_refuse(error):
            raise AssertionError(what) from error
        return
    if moved.tensors:
        compare(got, want, what)
    wanted = total(want)
    if loss is None or wanted is None:
        return
    try:
        wanted.backward()
    except (NotImplementedError, RuntimeError):
        return
    try:
        loss.backward()
    except NotImplementedError as error:
        if not may_refuse(error):
            raise AssertionError(what) from error
        return
    for here, there in zip(moved.leaves, call.leaves, strict=True):
        if there.grad is not None:
            compare([here.grad], [there.grad], f"gradient of {what}")


def walk(may_refuse):
    """Fails where a result differs, or a call is refused though `may_refuse(error)` is false."""
    for entry in support.entries():
        for number, what in numbered(entry):
            check(entry, number, what, may_refuse)

"""Every differentiable entry of the catalogue in forward mode: against differences, and with backward."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from catalogue.kinds import Entry
from tests import support
from tests.support import Call, array, dtype_of, make, numbered, outputs

ENTRIES = [e for e in support.entries() if any(s.requires_grad for s in support.specs(e, 0))]

WITHOUT = {"ctc_loss.IntList", "ctc_loss.Tensor", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"}
"""Their backward has no derivative."""
STEPS = {"mode", "frexp", "normal"}
"""Differences step over what their results jump at; draws have no derivative."""
NOT_COMPLEX = {"index_reduce", "nan_to_num", "svd", "svd.linalg", "binomial"}
"""PyTorch has no complex form, or none that differences can be taken of: a NaN in one part, free phases."""
STEP = 1e-6
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
complex_entries = pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if "Complex128" in e.dtypes and e.id not in NOT_COMPLEX], ids=lambda e: e.id
)
inplace_entries = pytest.mark.parametrize("entry", [e for e in ENTRIES if e.inplace], ids=lambda e: e.id)
twice_differentiable = pytest.mark.parametrize("entry", [e for e in ENTRIES if e.id not in WITHOUT], ids=lambda e: e.id)


@pytest.fixture
def forward_ad(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.autograd.forward_ad")


def precise(call: Call) -> Call:
    """The call in double precision, where a sample asks for single."""
    wide = {"float32": "float64", "complex64": "complex128"}

    def widen(t: Any) -> Any:
        name = wide.get(dtype_of(t))
        return t.detach().to(getattr(call.module, name)).requires_grad_(t.requires_grad) if name else t

    return call.map(widen)


def on_duals(forward_ad: Any, call: Call, moves: list[Any], grad: bool = False) -> Call:
    """The call with tangents on its leaves, which also require grad if asked to."""
    pairs = zip(call.leaves, moves, strict=True)
    duals = {id(t): forward_ad.make_dual(t if grad else t.detach(), d) for t, d in pairs}
    return call.map(lambda t: duals.get(id(t), t))


def shifted(call: Call, moves: list[Any], step: float) -> list[Any]:
    by_id = {id(t): d for t, d in zip(call.leaves, moves, strict=True)}
    with call.module.no_grad():
        moved = call.map(lambda t: t.detach() + step * by_id[id(t)] if id(t) in by_id else t.detach())
        return [array(o) if support.is_tensor(call.module, o) else o for o in outputs(call.module, moved())]


def compare(call: Call, moves: list[Any], pairs: list[Any], what: str) -> None:
    """Tangents of outputs against central differences, each element."""
    above, below = shifted(call, moves, STEP), shifted(call, moves, -STEP)
    for (primal, tangent), high, low in zip(pairs, above, below, strict=True):
        if tangent is None:
            continue
        assert tangent.shape == primal.shape and tangent.dtype == primal.dtype, what
        if dtype_of(primal) not in ("float64", "complex128"):
            continue
        with np.errstate(invalid="ignore"):
            slope = (high - low) / (2 * STEP)
        defined = ~np.isnan(slope)
        np.testing.assert_allclose(
            array(tangent)[defined], slope[defined], rtol=1e-4, atol=1e-5, equal_nan=True, err_msg=what
        )


def check(module: Any, forward_ad: Any, call: Call, what: str) -> bool:
    """Whether any output has a tangent."""
    moves = support.directions(module, call.leaves, f"{what}/tangent")
    with forward_ad.dual_level():
        try:
            results = outputs(module, on_duals(forward_ad, call, moves)())
        except NotImplementedError:
            assert call.entry.id in WITHOUT, what
            return True
        tensors = [r for r in results if support.is_tensor(module, r)]
        pairs = [forward_ad.unpack_dual(r) for r in tensors]
    if len(tensors) == len(results) and call.entry.name not in STEPS:
        compare(call, moves, pairs, what)
    return any(t is not None for _, t in pairs)


@every_entry
def test_tangents(module: Any, forward_ad: Any, entry: Entry) -> None:
    """In float64, each sample; wherever backward finds a gradient there is a tangent."""
    for number, what in numbered(entry):
        call = precise(make(module, entry, number, dtype="float64", grad=True))
        if not call.leaves:
            continue
        found = check(module, forward_ad, call, what)
        assert found or not support.cotangents(call, call()), f"{what} has a gradient and no tangent"


@complex_entries
def test_complex_tangents(module: Any, forward_ad: Any, entry: Entry) -> None:
    """In complex128, the first sample."""
    call = precise(make(module, entry, 0, dtype="complex128", grad=True))
    try:
        call()
    except RuntimeError:
        pytest.skip("no complex kernel")
    if call.leaves:
        check(module, forward_ad, call, f"complex {entry.id}")


@inplace_entries
def test_inplace(module: Any, forward_ad: Any, entry: Entry) -> None:
    """NAME_ leaves the tangent that NAME gives, in the tensor and in what it is a view of; out= refuses."""
    call = precise(make(module, entry, 0, dtype="float64", grad=True))
    self = call.args[0]
    if not support.is_tensor(module, self) or entry.id in WITHOUT:
        return
    moves = support.directions(module, call.leaves, f"{entry.id}/inplace")
    with forward_ad.dual_level(), module.no_grad():
        duals = on_duals(forward_ad, call, moves)
        want = duals()
        if want.shape != self.shape or want.dtype != self.dtype:
            return
        whole = module.stack([self.detach(), duals.args[0]])
        module.manual_seed(0)
        function = support.resolve(module, entry, entry.name + "_", "method" in entry.variants)
        function(whole[1], *duals.args[1:], **duals.kwargs)
        _, tangent = forward_ad.unpack_dual(whole)
        if tangent is None or forward_ad.unpack_dual(want).tangent is None:
            return
        np.testing.assert_allclose(array(tangent[1]), array(forward_ad.unpack_dual(want).tangent), err_msg=entry.id)
        assert not array(tangent[0]).any(), entry.id
        if entry.out:
            with pytest.raises(NotImplementedError, match="because it is an out= function"):
                duals(out=module.empty_like(want.detach()))


@twice_differentiable
def test_with_backward(module: Any, forward_ad: Any, entry: Entry) -> None:
    """The tangent of the gradient and the gradient of the tangent are the same product with second derivatives."""
    call = precise(make(module, entry, 0, dtype="float64", grad=True))
    if not call.leaves:
        return
    moves = support.directions(module, call.leaves, f"{entry.id}/second")
    with forward_ad.dual_level():
        pairs = support.cotangents(call, on_duals(forward_ad, call, moves, grad=True)())
        if not pairs:
            return
        outs, weights = zip(*pairs, strict=True)
        gradients = module.autograd.grad(outs, call.leaves, weights, create_graph=True, allow_unused=True)
        over = [None if g is None else forward_ad.unpack_dual(g).tangent for g in gradients]
        tangents = [forward_ad.unpack_dual(o).tangent for o in outs]
        recorded = [(t, w) for t, w in zip(tangents, weights, strict=True) if t is not None and t.requires_grad]
        under = [None] * len(call.leaves)
        if recorded:
            under = module.autograd.grad(
                [t for t, _ in recorded], call.leaves, [w for _, w in recorded], allow_unused=True
            )
    for a, b, leaf in zip(over, under, call.leaves, strict=True):
        zero = np.zeros(leaf.shape)
        got, want = (zero if x is None else array(x) for x in (a, b))
        precision = 1e-4 if dtype_of(outs[0]) in ("float16", "bfloat16", "float32", "complex64") else 1e-7
        np.testing.assert_allclose(got, want, precision, precision, equal_nan=True, err_msg=entry.id)

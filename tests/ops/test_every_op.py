"""Every entry of the catalogue on its samples: values, dtypes, strides, in place, out=, meta, gradients."""

from __future__ import annotations

import builtins
import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catalogue.kinds import Entry, Pointwise, View
from tests import support
from tests.recorded import recorded, unpack
from tests.support import array, assert_close, dtype_of, make, numbered, outputs

ENTRIES = support.entries()
EXTENSIONS = {
    name: dtypes.split()
    for name, _, dtypes in (
        line.partition("  ")
        for line in Path(__file__).with_name("extensions.txt").read_text().splitlines()
        if not line.startswith("#")
    )
}
"""Entry to dtypes in which it computes although PyTorch refuses."""
WIDE_UNSIGNED = ("uint16", "uint32", "uint64")
"""Types that few of PyTorch's operators take; ours take them like the other integers."""
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
inplace_entries = pytest.mark.parametrize("entry", [e for e in ENTRIES if e.inplace], ids=lambda e: e.id)
out_entries = pytest.mark.parametrize("entry", [e for e in ENTRIES if e.out], ids=lambda e: e.id)
differentiable = pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if any(s.requires_grad for s in support.specs(e, 0))], ids=lambda e: e.id
)


def assert_same(got: Any, want: Any, what: str) -> None:
    """The same outputs: count, dtypes, shapes, and values up to rounding."""
    got, want = outputs(None, got), outputs(None, want)
    assert len(got) == len(want), what
    for g, w in zip(got, want, strict=True):
        assert dtype_of(g) == dtype_of(w), what
        assert_close(array(g), array(w), dtype_of(w), what)


@every_entry
def test_values(module: Any, entry: Entry) -> None:
    """Against the entry's NumPy function, and against recorded results of PyTorch."""
    record = recorded(entry)
    assert record or entry.ref, "neither ref= nor recorded values: run `make oracle-data`"
    if record:
        assert len(record["samples"]) == len(support.samples(entry)), "samples changed: run `make oracle-data`"
    for number, what in numbered(entry):
        call = make(module, entry, number)
        result = outputs(module, call())
        if record:
            wanted = record["samples"][number]["out"]
            assert [dtype_of(r) for r in result] == [w["dtype"] for w in wanted], what
            for got, want in zip(result, wanted, strict=True):
                assert_close(array(got), unpack(want), want["dtype"], what)
        if entry.ref:
            double = call.map(lambda t: array(t).astype(np.float64) if dtype_of(t) == "float32" else array(t))
            expected = outputs(None, entry.ref(*double.args, **double.kwargs))
            for got, want in zip(result, expected, strict=True):
                assert_close(array(got), want, dtype_of(got), what)


def check_refused(entry: Entry, dtype: str, error: str, call: support.Call) -> None:
    """PyTorch raises there: so do we, but for what tests/ops/extensions.txt says."""
    if dtype in EXTENSIONS.get(entry.id, ()):
        call()
    elif dtype not in WIDE_UNSIGNED:
        # NotImplementedError is a RuntimeError, and which of them PyTorch raises follows from its build.
        kind = RuntimeError if error == "NotImplementedError" else getattr(builtins, error)
        with pytest.raises(kind):
            call()


@every_entry
def test_dtypes(module: Any, entry: Entry) -> None:
    """The first sample in every dtype of the entry: result types and values as recorded."""
    for dtype, want in (recorded(entry) or {"dtypes": {}})["dtypes"].items():
        what = f"{entry.id} in {dtype}"
        call = make(module, entry, 0, dtype=dtype)
        if isinstance(want, str):
            check_refused(entry, dtype, want, call)
            continue
        result = outputs(module, call())
        assert [dtype_of(r) for r in result] == [w["dtype"] for w in want], what
        for got, w in zip(result, want, strict=True):
            tolerance = dtype if dtype in ("float16", "bfloat16") and w["dtype"] != "bool" else w["dtype"]
            assert_close(array(got), unpack(w), tolerance, what)


def transposed(t: Any) -> Any:
    reverse = tuple(reversed(range(t.dim())))
    return t.permute(reverse).contiguous().permute(reverse)


def sliced(t: Any) -> Any:
    """Every second element of something larger, along each dimension."""
    big = t
    for dim in range(t.dim()):
        big = big.repeat_interleave(2, dim)
    return big[tuple(slice(None, None, 2) for _ in range(t.dim()))]


NEEDS_LAYOUT = ("view size is not compatible", "self.stride(-1) must be 1", "a last dimension with stride 1")


@every_entry
@pytest.mark.parametrize("layout", [transposed, sliced])
def test_strides(module: Any, entry: Entry, layout: Any) -> None:
    """Layout never changes values."""
    if isinstance(entry, View) or "strid" in entry.name:
        pytest.skip("the result follows the layout")
    if support.draws_numbers(make(module, entry, 0)):
        pytest.skip("random numbers are drawn in memory's order")
    for number, what in numbered(entry):
        call = make(module, entry, number)
        want = call()
        try:
            got = call.map(layout)()
        except RuntimeError as error:
            if any(text in str(error) for text in NEEDS_LAYOUT):
                continue
            raise
        assert_same(got, want, f"{what} {layout.__name__}")


@every_entry
def test_expanded(module: Any, entry: Entry) -> None:
    """Operands that repeat one row without copying it."""
    if not isinstance(entry, Pointwise):
        pytest.skip("pointwise entries only")
    for number, what in numbered(entry):
        call = make(module, entry, number).map(lambda t: t[:1].expand(t.shape) if t.dim() and len(t) else t)
        assert_same(call(), call.map(lambda t: t.contiguous())(), what)


@every_entry
def test_method(module: Any, entry: Entry) -> None:
    """The method form gives what the function gives; aliases exist and do, too."""
    call = make(module, entry, 0)
    if {"function", "method"} <= entry.variants and support.is_tensor(module, call.args[0]):
        want = call()
        module.manual_seed(0)
        assert_same(getattr(call.args[0], entry.name)(*call.args[1:], **call.kwargs), want, entry.id)
    for alias in entry.aliases:
        place = module
        for part in alias.split("."):
            place = getattr(place, part, None) or getattr(module.Tensor, part)
        module.manual_seed(0)
        assert_same(place(*call.args, **call.kwargs), call(), alias)


@inplace_entries
def test_inplace(module: Any, entry: Entry) -> None:
    """`NAME_` returns its tensor, holding what NAME gives, also through a strided view; its version rises."""
    for number, what in numbered(entry):
        call = make(module, entry, number)
        self = call.args[0]
        want = call()
        if (
            not support.is_tensor(module, self)
            or want.shape != self.shape
            or not module.can_cast(want.dtype, self.dtype)
        ):
            continue
        for target in (self.clone(), sliced(self)):
            version = target._version
            module.manual_seed(0)
            function = support.resolve(module, entry, entry.name + "_", "method" in entry.variants)
            result = function(target, *call.args[1:], **call.kwargs)
            assert result is target, what
            assert target._version == version + 1, what
            assert_close(array(target), array(want.to(self.dtype)), dtype_of(self), what)


@out_entries
def test_out(module: Any, entry: Entry) -> None:
    """`out=` returns the given tensors, resized from empty or written through their strides."""
    for number, what in numbered(entry):
        call = make(module, entry, number)
        want = outputs(module, call())
        for change in (lambda t: module.empty(0, dtype=t.dtype), lambda t: sliced(t.clone())):
            given = tuple(change(w) for w in want)
            result = outputs(module, call(out=given if len(given) > 1 else given[0]))
            assert all(r is g for r, g in zip(result, given, strict=True)), what
            assert_same(list(given), want, what)


# Their results' shapes follow from elements, or the elements are asked for.
NEEDS_DATA = {
    "argwhere",
    "bincount",
    "cpu",
    "ctc_loss.Tensor",
    "histogram.bin_ct",
    "masked_select",
    "nonzero",
    "nonzero.as_tuple",
    "one_hot",
    "repeat_interleave.Tensor",
    "repeat_interleave.self_Tensor",
    "to.device",
    "where",
}


@every_entry
def test_meta(module: Any, entry: Entry) -> None:
    """On the meta device: the same sizes, dtypes and strides without data."""
    for number, what in numbered(entry):
        call = make(module, entry, number)
        if not call.tensors:
            continue
        want = outputs(module, call())
        if not all(support.is_tensor(module, w) for w in want):
            pytest.skip("the result is not a tensor")
        try:
            result = outputs(module, call.map(lambda t: t.to("meta"))())
        except NotImplementedError:
            assert entry.id in NEEDS_DATA, what
            continue
        assert [(r.shape, r.dtype) for r in result] == [(w.shape, w.dtype) for w in want], what
        assert all(r.device.type == "meta" for r in result), what
        assert [r.stride() for r in result if r.numel()] == [w.stride() for w in want if w.numel()], what


def scalar(call: support.Call) -> float:
    """Sum over outputs of the fixed direction times the output."""
    pairs = support.cotangents(call, call())
    return support.inner(call.module, [d for _, d in pairs], [o for o, _ in pairs])


@differentiable
def test_gradient(module: Any, entry: Entry) -> None:
    """Against recorded gradients and finite differences in float64; with and without a graph asked for."""
    record = recorded(entry)
    for number, what in numbered(entry):
        call = make(module, entry, number, dtype="float64", grad=True)
        found = support.gradients(call) if call.leaves else None
        if found is None:
            continue
        for leaf, g in zip(call.leaves, found, strict=True):
            assert g is None or (g.shape, g.dtype) == (leaf.shape, leaf.dtype), what
        wanted = record["samples"][number].get("grad") if record else None
        for g, w in zip(found, wanted or [], strict=bool(wanted)):
            if w is not None and g is not None:
                assert_close(array(g), unpack(w), w["dtype"], f"gradient of {what}", 10)
            else:
                assert w is None or not unpack(w).any(), f"{what} has no gradient, PyTorch has"
        graphed = support.gradients(make(module, entry, number, dtype="float64", grad=True), create_graph=True)
        for g, h in zip(found, graphed or [], strict=True):
            assert (g is None) == (h is None), what
            if g is not None:
                assert_close(array(h), array(g), dtype_of(g), f"{what}: fused backward and formula", 10)
        if not wanted:
            slope, directions = support.directional(call, scalar, what, 1e-6)
            assert support.inner(module, found, directions) == pytest.approx(slope, rel=1e-5, abs=1e-6), what


WITHOUT_SECOND_DERIVATIVE = {"ctc_loss", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"}
"""PyTorch has none, either."""
PRECISION = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-4, "complex64": 1e-4}
"""Of sums of products of a gradient in these types; 1e-9 in others."""
STEPS = {"mode", "frexp"}
"""Finite differences step over what their results jump at."""
EMPTY_NORMS = {"cdist"}
"""The second derivative of a norm that is 0 is NaN, as PyTorch's is."""


@differentiable
def test_second_derivative(module: Any, entry: Entry) -> None:
    """The derivative of the gradient along fixed directions: by the leaves against finite differences, and by what came
    in, in which the gradient is linear, against itself."""
    for number, what in numbered(entry):
        call = make(module, entry, number, dtype="float64", grad=True)
        pairs = support.cotangents(call, call()) if call.leaves else []
        if not pairs:
            continue
        outs, incoming = [o for o, _ in pairs], [d.requires_grad_() for _, d in pairs]
        first = module.autograd.grad(outs, call.leaves, incoming, create_graph=True, allow_unused=True)
        positions = [i for i, g in enumerate(first) if g is not None and g.requires_grad]
        if not positions:
            continue
        weights = support.directions(module, [first[i] for i in positions], f"{what}/weights")
        try:
            second = module.autograd.grad(
                [first[i] for i in positions],
                [*call.leaves, *incoming],
                weights,
                retain_graph=True,
                allow_unused=True,
            )
        except NotImplementedError:
            assert entry.name in WITHOUT_SECOND_DERIVATIVE, what
            continue

        def weighted(found: Any, positions: list[int] = positions, weights: list[Any] = weights) -> float:
            return support.inner(module, weights, [found[i] for i in positions])

        def weighted_gradients(moved: support.Call) -> float:
            return weighted(support.gradients(moved) or [None] * len(moved.leaves))

        slope, moves = support.directional(call, weighted_gradients, f"{what}/second", 1e-5)
        by_leaves = support.inner(module, list(second[: len(call.leaves)]), moves)
        assert entry.name in STEPS or by_leaves == pytest.approx(slope, rel=1e-4, abs=1e-5), what
        other = support.directions(module, incoming, f"{what}/other")
        linear = weighted(module.autograd.grad(outs, call.leaves, other, allow_unused=True))
        by_incoming = support.inner(module, list(second[len(call.leaves) :]), other)
        precision = max(PRECISION.get(dtype_of(t), 1e-9) for t in [*outs, *call.leaves])
        undefined = by_incoming != by_incoming and entry.name in EMPTY_NORMS
        assert undefined or by_incoming == pytest.approx(linear, rel=precision, abs=precision), (
            f"{what}: by the incoming gradient"
        )


@differentiable
def test_graph_is_freed_by_counting(module: Any, entry: Entry) -> None:
    """No cycle through a graph: with the collector off, no tensor and no node is left of it and of its derivative's."""
    kinds = (module.Tensor, type(module.ones(1, requires_grad=True).exp().grad_fn).__mro__[1])
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for number, what in numbered(entry):
            call = make(module, entry, number, dtype="float64", grad=True)
            if call.leaves:
                support.gradients(call)
                support.gradients(call, create_graph=True)
            del call
            assert not [o for o in gc.get_objects() if isinstance(o, kinds)], what
    finally:
        gc.enable()
        gc.unfreeze()

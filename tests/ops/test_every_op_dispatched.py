"""Every entry of the catalogue with its calls seen by Python: by a mode, by a class without memory of its own, by one
with memory. Results and gradients are the plain ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from catalogue.kinds import Entry
from tests import support
from tests.support import array, dtype_of, make, numbered, outputs

if support.MODULE != "vivace":
    pytest.skip("compares vivace with itself", allow_module_level=True)

import vivace as torch
from vivace.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from vivace.utils._pytree import tree_map_only

every_entry = pytest.mark.parametrize("entry", support.entries(), ids=lambda e: e.id)


class Pass(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Wrapper(torch.Tensor):
    """Has sizes and a dtype; the elements are those of `elem`."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem: Any, requires_grad: bool = False) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            elem.shape,
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            device=elem.device,
            requires_grad=requires_grad,
        )
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plain_args, plain_kwargs = tree_map_only(cls, lambda t: t.elem, (args, kwargs or {}))
        out = tree_map_only(torch.Tensor, cls, func(*plain_args, **plain_kwargs))
        return return_and_correct_aliasing(func, args, kwargs or {}, out)


class Labelled(torch.Tensor):
    """Has memory and hands every call on."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem: Any, requires_grad: bool = False) -> Any:
        return torch.Tensor._make_subclass(cls, elem, requires_grad)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return torch._C._disabled_torch_dispatch_impl(func, types, args, kwargs or {})


def elements(value: Any) -> Any:
    """A NumPy array of what a result stands for."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.detach()
    return array(value.elem if isinstance(value, Wrapper) else value.as_subclass(torch.Tensor))


def leaf_of(kind: Any) -> Callable[[Any], Any]:
    return lambda t: kind(t.detach(), requires_grad=t.requires_grad)


def run(entry: Entry, number: int, change: Callable[[Any], Any], create_graph: bool) -> list[list[Any]]:
    """The results of a sample, its gradients, and the gradients' gradients."""
    call = make(torch, entry, number, dtype="float64", grad=True).map(change)
    result = call()
    found = [outputs(torch, result)]
    pairs = support.cotangents(call, result) if call.leaves else []
    if not pairs:
        return found
    outs, along = zip(*((o, change(d)) for o, d in pairs), strict=True)
    try:
        first = torch.autograd.grad(outs, call.leaves, along, create_graph=create_graph, allow_unused=True)
    except RuntimeError as error:
        if not re.search("derivative .* is not implemented", str(error)):
            raise
        return found
    found.append(list(first))
    again = [g for g in first if g is not None and g.requires_grad]
    if again:
        try:
            weights = [torch.ones_like(g) for g in again]
            found.append(list(torch.autograd.grad(again, call.leaves, weights, allow_unused=True)))
        except NotImplementedError:
            found.append([])
    return found


def assert_same(got: list[list[Any]], want: list[list[Any]], what: str) -> None:
    for extra in (*got[len(want) :], *want[len(got) :]):  # where one of them knows that a gradient is constant
        assert not any(elements(g).any() for g in extra if g is not None), what
    for order, (gs, ws) in enumerate(zip(got, want, strict=False)):
        assert len(gs) == len(ws), f"{what}, order {order}"
        for g, w in zip(gs, ws, strict=True):
            assert (g is None) == (w is None), f"{what}, order {order}"
            if g is None:
                continue
            assert dtype_of(g) == dtype_of(w), f"{what}, order {order}"
            support.assert_close(elements(g), array(w), dtype_of(w), f"{what}, order {order}", 10)


GRAPHS = {Pass: (False,), Wrapper: (False, True), Labelled: (True,)}
"""Whether a graph is made of the first derivative: that of a mode and of a class with memory differ less."""


def check(entry: Entry, kind: Any) -> None:
    change = leaf_of(kind) if kind is not Pass else lambda t: t
    for number, what in itertools.islice(numbered(entry), 2):
        for create_graph in GRAPHS[kind]:
            want = run(entry, number, lambda t: t, create_graph)
            if kind is Pass:
                with Pass():
                    got = run(entry, number, change, create_graph)
            else:
                got = run(entry, number, change, create_graph)
            assert_same(got, want, f"{what} {kind.__name__} create_graph={create_graph}")


def check_in_place(entry: Entry, kind: Any) -> None:
    change = leaf_of(kind)
    for number, what in numbered(entry):
        call = make(torch, entry, number)
        self = call.args[0]
        if not isinstance(self, torch.Tensor):
            continue
        function = support.resolve(torch, entry, entry.name + "_", "method" in entry.variants)
        want, whole = self.clone(), kind(self.clone())
        part = whole.view_as(whole)
        torch.manual_seed(0)
        try:
            function(want, *call.args[1:], **call.kwargs)
        except RuntimeError:
            continue  # of another size or dtype
        torch.manual_seed(0)
        other = call.map(change)
        assert function(part, *other.args[1:], **other.kwargs) is part, what
        support.assert_close(elements(whole), array(want), dtype_of(want), what)
        assert whole._version == part._version == 1, what


@pytest.mark.parametrize("entry", [e for e in support.entries() if e.inplace], ids=lambda e: e.id)
@pytest.mark.parametrize("kind", [Wrapper, Labelled])
def test_in_place(entry: Entry, kind: Any) -> None:
    """Through a view of an object of the class."""
    check_in_place(entry, kind)


@every_entry
@pytest.mark.parametrize("kind", [Pass, Wrapper, Labelled])
def test_results_and_gradients(entry: Entry, kind: Any) -> None:
    check(entry, kind)

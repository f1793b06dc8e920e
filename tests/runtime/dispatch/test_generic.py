"""What in-place operators and out= refuse: shared memory, dtypes, devices; and what resizing says."""

import warnings

import pytest

import vivace as torch
from catalogue.kinds import Pointwise
from tests import support

WITHIN = "more than one element of the written-to tensor refers to a single memory location"
WITH_INPUT = "some elements of the input tensor and the written-to tensor refer to a single memory location"
out_entries = pytest.mark.parametrize("entry", [e for e in support.entries() if e.out], ids=lambda e: e.id)


@out_entries
def test_out_that_is_expanded_is_refused(module, entry):
    for number, _ in support.numbered(entry):
        call = support.make(module, entry, number)
        want = support.outputs(module, call())
        if want[0].numel() < 2:
            continue
        given = [module.zeros((1,) * w.dim(), dtype=w.dtype).expand(w.shape) for w in want]
        with pytest.raises(RuntimeError, match=WITHIN):
            call(out=tuple(given) if len(given) > 1 else given[0])
        break


@out_entries
def test_out_of_another_dtype(module, entry):
    """Refused, unless the entry says that the result is cast or the operator takes its dtype from out."""
    if isinstance(entry, Pointwise) or "cast" in entry.writes:
        pytest.skip("the result is cast")
    if any(a.type.base == "ScalarType" for a in entry.schemas[0].arguments):
        pytest.skip("out gives the dtype")
    call = support.make(module, entry, 0)
    given = [module.empty(w.shape, dtype=module.complex128) for w in support.outputs(module, call())]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        call(out=tuple(given) if len(given) > 1 else given[0])


def test_out_gives_the_dtype():
    assert torch.zeros(2, out=torch.empty(2, dtype=torch.int16)).dtype == torch.int16
    assert torch.sum(torch.ones(2, 3), 0, out=torch.empty(3, dtype=torch.float64)).tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.ones(2, dtype=torch.float32, out=torch.empty(2, dtype=torch.int64))


def test_out_over_part_of_an_input_is_refused():
    memory = torch.arange(12.0)
    for call in (
        lambda: torch.gather(memory[:6], 0, torch.tensor([0, 1]), out=memory[4:6]),
        lambda: torch.cumsum(memory[:6], 0, out=memory[1:7]),
        lambda: torch.cat([memory[:3], memory[3:6]], out=memory[2:8]),
        lambda: torch.index_select(memory[:6], 0, torch.tensor([0, 1]), out=memory[4:6]),
        lambda: torch.add(memory[:6], 1, out=memory[1:7]),
    ):
        with pytest.raises(RuntimeError, match=WITH_INPUT):
            call()
    assert torch.sum(memory.view(3, 4), 0, out=memory[:4]).tolist() == [12.0, 15.0, 18.0, 21.0]


def test_in_place_over_part_of_an_input_is_refused():
    memory = torch.arange(8.0)
    for call in (
        lambda: memory[1:5].copy_(memory[:4]),
        lambda: memory[1:5].scatter_(0, torch.tensor([0, 1, 2, 3]), memory[:4]),
        lambda: memory[1:5].index_add_(0, torch.tensor([0, 1]), memory[:2]),
        lambda: memory[1:5].mul_(memory[:4]),
    ):
        with pytest.raises(RuntimeError, match=WITH_INPUT):
            call()
    assert memory.tolist() == [float(i) for i in range(8)]


def test_in_place_on_expanded():
    for write in (
        lambda t: t.copy_(torch.ones(3)),
        lambda t: t.scatter_(0, torch.tensor([0]), 1.0),
        lambda t: t.put_(torch.tensor([0]), torch.tensor([1.0])),
        lambda t: t.masked_scatter_(torch.tensor([True, False, True]), torch.ones(3)),
        lambda t: t.cumsum_(0),
        lambda t: t.masked_fill_(torch.tensor([True, False, False]), 1.0),
        lambda t: t.index_fill_(0, torch.tensor([0]), 1.0),
        lambda t: t.index_put_((torch.tensor([0]),), torch.tensor(1.0)),
        lambda t: t.uniform_(),
        lambda t: t.clamp_(0),
    ):
        one = torch.zeros(1)
        with pytest.raises(RuntimeError, match=WITHIN):
            write(one.expand(3))
        assert one.item() == 0


def test_resizing_warns_unless_out_is_empty_or_the_operator_makes_tensors():
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.gather(torch.arange(4.0), 0, torch.tensor([1, 2]), out=torch.empty(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.gather(torch.arange(4.0), 0, torch.tensor([1, 2]), out=torch.empty(0))
        torch.zeros(2, 3, out=torch.empty(1))


def test_out_on_another_device():
    with pytest.raises(RuntimeError, match="Expected out tensor to have device cpu, but got meta instead"):
        torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=torch.empty(2, 2, device="meta"))


def test_values_are_not_computed_from_tensors_without():
    values, none = torch.ones(3, requires_grad=True), torch.ones(3, device="meta")
    index = torch.zeros(3, dtype=torch.int64, device="meta")
    for call in (
        lambda: torch.nn.functional.huber_loss(values, none),
        lambda: torch.gather(values, 0, index),
        lambda: torch.zeros(3).scatter_add_(0, index, torch.ones(3)),
        lambda: torch.scatter_add(torch.zeros(3), 0, index, torch.ones(3), out=torch.zeros(3)),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    assert torch.index_select(none, 0, torch.tensor([0, 1])).device.type == "meta"

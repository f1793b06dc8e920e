"""Numbers that a dtype does not hold, and operands that an operator refuses."""

import pytest

import vivace as torch

F = torch.nn.functional


@pytest.mark.parametrize(
    "write",
    [
        lambda t, x: t.clone().fill_(x),
        lambda t, x: torch.full_like(t, x),
        lambda t, x: t.masked_fill(torch.tensor(True), x),
        lambda t, x: t.index_fill(0, torch.tensor([0]), x),
        lambda t, x: t.scatter(0, torch.tensor([0]), x),
        lambda t, x: F.pad(t, (1, 1), value=x),
        lambda t, x: F.threshold(t, 0, x),
    ],
)
def test_numbers_out_of_range_are_refused(write):
    for dtype, number, name in (
        (torch.int8, 300, "int8_t"),
        (torch.int8, -129, "int8_t"),
        (torch.uint8, -256, "uint8_t"),
        (torch.int64, float("nan"), "int64_t"),
        (torch.float16, 1e6, "c10::Half"),
        (torch.float32, 1e300, "float"),
    ):
        with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
            write(torch.tensor([1, 2], dtype=dtype), number)


def test_numbers_in_range_are_taken():
    assert torch.zeros(1, dtype=torch.uint8).fill_(-1).item() == 255
    assert torch.zeros(1, dtype=torch.int8).fill_(127.0).item() == 127
    assert torch.zeros(1, dtype=torch.float16).fill_(float("inf")).item() == float("inf")
    assert (torch.tensor([1], dtype=torch.int8) + 300).item() == 45


def test_bounds_and_choices_have_to_fit():
    t = torch.tensor([1, 2], dtype=torch.int8)
    for call in (lambda: t.clamp(max=300), lambda: torch.clamp_min(t, -300), lambda: t**300):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.where(torch.tensor(True), t, 300)


def test_subtraction_of_bool_is_refused():
    mask = torch.tensor([True, False])
    for call in (lambda: mask - mask, lambda: mask - 1, lambda: 1 - mask, lambda: mask - torch.ones(2)):
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with"):
            call()


def test_rounded_division_of_complex_is_refused():
    with pytest.raises(NotImplementedError, match="rounding_mode='floor'"):
        torch.div(torch.tensor([1j]), 2, rounding_mode="floor")

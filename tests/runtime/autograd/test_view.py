"""Views that may not be written to while gradients are recorded: their base could not be told of the write."""

import pytest

import vivace as torch

SEVERAL = "This view is the output of a function that returns multiple views. Such functions do not allow the output"
WITHOUT = "in no_grad mode and {} modified inplace with grad mode enabled. Given that this use case is ambiguous and"
INFERENCE = "in inference mode and is being modified inplace in normal mode. Given that this use case is ambiguous and"


def recorded() -> torch.Tensor:
    return torch.ones(3, 2, requires_grad=True) * 1


PARTS = {
    "Split": lambda x: x.split(1),
    "SplitWithSizes": lambda x: x.split([1, 2]),
    "Unbind": lambda x: x.unbind(),
}


@pytest.mark.parametrize("name", PARTS)
def test_one_of_several_views_is_not_written_to(name):
    part = PARTS[name](recorded())[0]
    with pytest.raises(RuntimeError, match=f"^Output 0 of {name} is a view and is being modified inplace. {SEVERAL}"):
        part.mul_(2)
    with pytest.raises(RuntimeError, match=f"^Output 0 of Select is a view and is being modified inplace. {SEVERAL}"):
        part[0].mul_(2)


def test_chunks_and_rows_of_a_loop_are_of_several_views():
    for part in (recorded().chunk(3)[1], next(iter(recorded())), torch.zeros(3, 2).unbind()[0]):
        with pytest.raises(RuntimeError, match=SEVERAL):
            part.mul_(torch.ones(2, requires_grad=True))


def test_pieces_that_are_slices_are_written_to():
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    y.tensor_split(2)[0].mul_(3)
    y.hsplit(2)[1].mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 5.0, 5.0]


def test_one_of_several_views_is_not_used_after_a_write_to_the_base():
    base = recorded()
    row = base.unbind()[1]
    base.mul_(2)
    with pytest.raises(RuntimeError, match="Output 1 of Unbind is a view and its base or another view of its base has"):
        row.sum()


def test_copies_of_parts_are_written_to():
    x = recorded()
    x.unsafe_split(1)[0].mul_(2)
    x.unbind()[0].clone().mul_(2)
    with torch.no_grad():
        x.unbind()[0].mul_(2)
    assert x.tolist() == [[4.0, 4.0], [1.0, 1.0], [1.0, 1.0]]


def test_view_made_without_grad_is_not_written_to_with_grad():
    for base, factor in ((recorded(), 2), (torch.zeros(3, 2), torch.ones(2, requires_grad=True))):
        with torch.no_grad():
            view = base[0]
        with pytest.raises(RuntimeError, match="^A view was created " + WITHOUT.format("is being")):
            view.mul_(factor)
        with torch.no_grad():
            view.mul_(3)


def test_view_made_without_grad_is_not_used_after_a_recorded_write_to_the_base():
    base = torch.zeros(3, 2)
    with torch.no_grad():
        view = base[0]
    base.mul_(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match=WITHOUT.format("its base or another view of its base has been")):
        view + 1


def test_view_made_without_grad_is_written_to_where_nothing_is_recorded():
    base = torch.zeros(3, 2)
    with torch.no_grad():
        view = base[0]
    view.add_(1)
    assert base[0].tolist() == [1.0, 1.0]


def test_view_made_in_inference_mode_is_not_written_to_with_grad():
    base = recorded()
    with torch.inference_mode():
        view = base[0]
    with pytest.raises(RuntimeError, match="^A view was created " + INFERENCE):
        view.mul_(2)


def test_several_views_of_a_function_are_not_written_to():
    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[0], x[1]

        @staticmethod
        def backward(ctx, first, second):
            return torch.stack([first, second, first])

    with pytest.raises(RuntimeError, match=f"^Output 1 of Rows is a view and is being modified inplace. {SEVERAL}"):
        Rows.apply(recorded())[1].mul_(2)


def test_view_of_a_leaf_that_requires_grad_itself_is_a_leaf():
    leaf = torch.arange(4.0).reshape(2, 2).requires_grad_()
    for part in (leaf, leaf[0]):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-"):
            part.mul_(2)
    base = torch.zeros(2)
    view = base[:1]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-"):
        view.add_(1)


def test_views_are_not_detached_in_place():
    with torch.no_grad():
        without = recorded()[0]
    for view in (recorded()[0], torch.zeros(2)[:1], without, recorded().unbind()[0]):
        with pytest.raises(RuntimeError, match="Can't detach views in-place. Use detach\\(\\) instead"):
            view.detach_()
    recorded()[0].detach().detach_()


def test_what_requires_grad_is_not_resized():
    for x in (recorded(), torch.zeros(2, requires_grad=True)):
        with torch.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            x.resize_(1)

"""Numbers before the tensors that they multiply, as old programs call add_ and its like."""

import warnings

import pytest

import vivace as torch

MATRIX, VECTOR = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 10.0])

CALLS = {
    "add": (lambda: VECTOR.add(2, VECTOR), [3.0, 30.0]),
    "add, function": (lambda: torch.add(VECTOR, 2, VECTOR), [3.0, 30.0]),
    "add, numbers": (lambda: torch.add(1, 2, 3), 7),
    "sub_": (lambda: VECTOR.clone().sub_(2, VECTOR), [-1.0, -10.0]),
    "addcmul_": (lambda: VECTOR.clone().addcmul_(0.5, VECTOR, VECTOR), [1.5, 60.0]),
    "addcdiv_": (lambda: VECTOR.clone().addcdiv_(-1, VECTOR, VECTOR), [0.0, 9.0]),
    "addmm": (lambda: MATRIX.addmm(2, 3, MATRIX, MATRIX), [[23.0, 34.0], [51.0, 74.0]]),
    "addmm, beta": (lambda: MATRIX.addmm(2, MATRIX, MATRIX), [[9.0, 14.0], [21.0, 30.0]]),
    "addmm, function": (lambda: torch.addmm(2, MATRIX, 3, MATRIX, MATRIX), [[23.0, 34.0], [51.0, 74.0]]),
    "addmv": (lambda: VECTOR.addmv(2, 3, MATRIX, VECTOR), [65.0, 149.0]),
    "addr": (lambda: MATRIX.addr(2, 3, VECTOR, VECTOR), [[5.0, 34.0], [36.0, 308.0]]),
    "baddbmm": (lambda: MATRIX[None].baddbmm(2, MATRIX[None], MATRIX[None]), [[[9.0, 14.0], [21.0, 30.0]]]),
    "addbmm": (lambda: MATRIX.addbmm(2, 3, MATRIX[None], MATRIX[None]), [[23.0, 34.0], [51.0, 74.0]]),
}


@pytest.mark.parametrize("name", CALLS)
def test_old_order(name):
    call, result = CALLS[name]
    with pytest.warns(UserWarning, match="This overload of .* is deprecated"):
        assert call().tolist() == result


def test_warning_shows_both_orders():
    with pytest.warns(UserWarning, match="deprecated") as caught:
        VECTOR.clone().add_(2, VECTOR)
    assert str(caught[0].message) == (
        "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\n"
        "Consider using one of the following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)"
    )


def test_out_is_passed_on():
    out = torch.empty(2)
    with pytest.warns(UserWarning, match="torch|add"):
        assert torch.add(VECTOR, 2, VECTOR, out=out) is out
    assert out.tolist() == [3.0, 30.0]


def test_wrong_calls_are_refused_as_before():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: torch.add(VECTOR, VECTOR, VECTOR),
            lambda: torch.add(VECTOR, "2", VECTOR),
            lambda: torch.mul(VECTOR, 2, VECTOR),
            lambda: VECTOR.addcmul_(VECTOR, 2),
        ):
            with pytest.raises(TypeError):
                call()

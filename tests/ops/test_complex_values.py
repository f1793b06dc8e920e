"""Functions of complex numbers at zeros, infinities, NaN, and near them, against NumPy's, which are C's Annex G."""

import itertools

import numpy as np
import pytest

import vivace as torch

FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip
FINITE = (0.0, -0.0, 1.0, -1.0, 1e-3, 2.5, -2.5, 30.0, -30.0, 0.5, -1e-6, 1e10, 1e30)
INFINITE = (float("inf"), -float("inf"))


def _close(ours, expected, rtol):
    with np.errstate(all="ignore"):
        return (np.isnan(ours) & np.isnan(expected)) | np.isclose(ours, expected, rtol, 1e-20) | (ours == expected)


def _check(name, points, dtype, rtol):
    z = np.array([complex(re, im) for re, im in points], dtype)
    ours = getattr(torch, name)(torch.from_numpy(z)).numpy()
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](z)
    # The sign of an infinite part beside NaN is free.
    loose = np.isinf(expected.real) & np.isnan(expected.imag) | np.isinf(expected.imag) & np.isnan(expected.real)
    real = _close(np.where(loose, abs(ours.real), ours.real), np.where(loose, abs(expected.real), expected.real), rtol)
    imag = _close(np.where(loose, abs(ours.imag), ours.imag), np.where(loose, abs(expected.imag), expected.imag), rtol)
    wrong = ~(real & imag)
    assert not wrong.any(), [(z[i], ours[i], expected[i]) for i in np.flatnonzero(wrong)[:5]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_infinite_parts(name):
    points = [p for p in itertools.product((*FINITE, *INFINITE), repeat=2) if not np.isfinite(p).all()]
    _check(name, points, np.complex128, 1e-12)
    _check(name, points, np.complex64, 1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_finite_parts_near_zero_and_far_from_it(name):
    points = [p for p in itertools.product(FINITE, repeat=2) if max(map(abs, p)) < 1e5 or name[:1] != "t"]
    trig = name in ("sin", "cos", "tan", "exp", "sinh", "cosh", "tanh")
    points = [p for p in points if not trig or max(map(abs, p)) < 1e5]
    _check(name, points, np.complex128, 1e-11)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_inverse_functions_keep_their_digits_near_zero(dtype):
    z = torch.tensor([1e-6 + 0j, 1e-6j, 1e-9 + 1e-9j, -1e-12 + 1e-6j], dtype=dtype)
    for name in ("asin", "atan", "asinh", "atanh"):
        torch.testing.assert_close(getattr(torch, name)(z), z, rtol=1e-6, atol=0)


def test_quotients_by_zero_and_infinity():
    inf = float("inf")
    quotients = torch.tensor([1 + 1j, 1 - 1j]) / torch.tensor([0j, complex(inf, 1)])
    assert quotients[0].item() == complex(inf, inf) and quotients[1].item() == 0
    assert (torch.tensor([1 + 1j]) / 0).item() == complex(inf, inf)
    assert torch.tensor([complex(inf, 1)]).reciprocal().item() == 0
    assert torch.tensor([0j]).reciprocal().real.item() == inf


def test_sums_with_infinite_parts():
    """PyTorch multiplies the second operand by 1 + 0j, which makes a NaN of 1j + complex(1, inf)."""
    infinite = torch.tensor([complex(1, float("inf"))])
    one = torch.tensor([1j])
    for total in (one + infinite, infinite + one, 1j + infinite, infinite + 1j, one.clone().add_(infinite)):
        assert total.item() == complex(1, float("inf"))
    for difference in (one - infinite, 1j - infinite, torch.rsub(infinite, one)):
        assert difference.item() == complex(-1, -float("inf"))
    assert torch.add(one, torch.tensor([2 + 0j]), alpha=1j).item() == 3j


def test_powers_of_zero():
    powers = torch.tensor([0j]) ** torch.tensor([2 + 1j, 0j, 1j])
    assert powers[:2].tolist() == [0, 1] and powers[2].isnan().item()

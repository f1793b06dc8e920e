"""Versions, in-place operators and views."""

import gc
import weakref

import pytest

import vivace as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_modified_saved_tensor_is_refused_and_the_line_is_named():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation.*ExpBackward0.*version 1.*test_in_place.py"
    ):
        y.sum().backward()


def test_versions_are_shared_by_views_and_detach_but_not_by_data():
    x = torch.zeros(4)
    x[1:].add_(1)
    x.detach().add_(1)
    assert x._version == 2
    x.data.add_(1)
    assert x._version == 2 and x.tolist() == [2.0, 3.0, 3.0, 3.0]


def test_leaf_that_requires_grad_can_not_be_changed_in_place():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad.*in-place"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="view of a leaf Variable"):
        x[0].add_(1)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0] and x.is_leaf


def test_base_changed_through_a_view():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 1
    view = base[1:]
    view.mul_(10)
    assert base.tolist() == [1.0, 20.0, 30.0] and base.grad_fn.name() == "torch::autograd::CopySlices"
    base.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0]


def test_view_of_a_base_that_was_changed():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 1
    view = base[1:]
    base.mul_(x)
    assert view.grad_fn.name() == "AsStridedBackward0"
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 4.0, 6.0]


def test_view_without_grad_gets_history_from_its_base():
    a, w = torch.zeros(2, 2), leaf(1.0, 2.0)
    row = a[0]
    assert not row.requires_grad
    a.add_(w)
    assert row.requires_grad and not row.is_leaf
    (row * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_constant_written_into_a_slice_cuts_the_gradient():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y[0] = 5.0
    y[1:].zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_value_written_into_a_slice_gets_its_gradient():
    x = leaf(4.0)
    y = torch.zeros(3)
    y[1] = x[0] * 2
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [20.0]


def test_in_place_operator_that_needs_its_old_self():
    x, w = leaf(2.0), leaf(3.0)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert (x.grad.item(), w.grad.item()) == (3.0, 2.0)


def test_view_of_an_expanded_tensor_adds_up():
    x = leaf(1.0)
    base = x * 1
    wide = base.expand(3)
    base.add_(0)
    (wide * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.item() == 6.0


def test_out_refuses_arguments_that_require_grad():
    with pytest.raises(RuntimeError, match="out=.*don't support automatic differentiation"):
        torch.add(leaf(1.0), 1, out=torch.empty(1))


def test_detach_in_place():
    y = leaf(1.0) * 2
    y.detach_()
    assert y.is_leaf and not y.requires_grad


def test_what_is_overwritten_gets_a_gradient_of_zeros():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[...] = 5.0
    y.copy_(torch.ones(3))
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_names_of_fill():
    assert type((leaf(1.0) * 1).fill_(2.0).grad_fn).__name__ == "FillBackward2"
    assert type((leaf(1.0) * 1).fill_(torch.tensor(2.0)).grad_fn).__name__ == "FillBackward3"


def test_what_as_strided_looked_at_may_be_changed():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    parts = y.as_strided((2,), (2,), 0) * 1
    y.detach().zero_()
    parts.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


def test_cross_keeps_only_the_vector_that_a_wanted_gradient_needs():
    x, fixed = leaf(1.0, 2.0, 3.0), torch.tensor([0.0, 0.0, 1.0])
    y = x * 1
    z = torch.linalg.cross(y, fixed)
    y.detach().zero_()
    z.sum().backward()
    assert x.grad.tolist() == [-1.0, 1.0, 0.0]


def test_writing_through_as_strided_makes_no_cycle():
    x = leaf(1.0, 2.0, 3.0)
    reference = weakref.ref(x)
    gc.disable()
    try:
        y = x * 1
        y.as_strided((2,), (2,)).mul_(2)
        del x, y
        assert reference() is None
    finally:
        gc.enable()


def test_second_derivatives_through_writes_to_views():
    x, w = leaf(1.0, 2.0, 3.0), leaf(2.0, 3.0)
    y = x * 2
    y[:2].mul_(w)
    first = torch.autograd.grad((y**2).sum(), (x, w), create_graph=True)
    second = torch.autograd.grad(sum((g**2).sum() for g in first), (x, w))
    assert [g.tolist() for g in second] == [[3072.0, 39168.0, 384.0], [2304.0, 33792.0]]


def real_parts(z, w):
    torch.view_as_real(z)[:, 0].mul_(w)
    return z


def real_parts_apart(z, w):
    return torch.complex(z.real * w, z.imag)


def imaginary_replaced(z, w):
    z.imag.copy_(w)
    return z * z


def imaginary_replaced_apart(z, w):
    return torch.complex(z.real, w) ** 2


def root_scaled(z, w):
    parts = torch.view_as_real(z)
    z.mul_(w)
    return torch.view_as_complex(parts)


def root_scaled_apart(z, w):
    return z * w


def parts_in_turn(z, w):
    imaginary = z.imag
    z.real.add_(w)
    z.mul_(1j)
    return torch.complex(imaginary, z.real)


def parts_in_turn_apart(z, w):
    z = (z + w) * 1j
    return torch.complex(z.imag, z.real)


def pairs_as_complex(z, w):
    pairs = torch.stack([z.real, z.imag], -1)
    torch.view_as_complex(pairs)[1:].mul_(torch.complex(w, w)[1:])
    return torch.view_as_complex(pairs)


def pairs_as_complex_apart(z, w):
    return torch.cat([z[:1], z[1:] * torch.complex(w, w)[1:]])


@pytest.mark.parametrize(
    ("in_place", "apart"),
    [
        (real_parts, real_parts_apart),
        (imaginary_replaced, imaginary_replaced_apart),
        (root_scaled, root_scaled_apart),
        (parts_in_turn, parts_in_turn_apart),
        (pairs_as_complex, pairs_as_complex_apart),
    ],
)
def test_views_of_complex_numbers_as_real_ones_and_back(in_place, apart):
    found = []
    for function in (in_place, apart):
        z = torch.tensor([1 + 2j, 3 - 1j, 0.5 + 0.25j], requires_grad=True)
        w = leaf(2.0, -3.0, 0.5)
        y = function(z * 2, w)
        first = torch.autograd.grad((y.abs() ** 2).sum(), (z, w), create_graph=True)
        second = torch.autograd.grad(sum((g.abs() ** 2).sum() for g in first), (z, w))
        found.append([y.detach(), *first, *second])
    for got, wanted in zip(*found, strict=True):
        torch.testing.assert_close(got, wanted)


def test_only_what_the_gradients_wanted_use_is_saved():
    x, mask = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    y = x * mask
    assert y.grad_fn._saved_self is None and y.grad_fn._saved_other is mask
    product = (x * 1).mul_(mask)
    assert product.grad_fn._saved_self is None
    held = (x * 1).detach()
    reference = weakref.ref(held)
    y = held * x
    del held
    assert reference() is not None  # x's gradient is computed from it
    held = mask * 1
    reference = weakref.ref(held)
    y = torch.addcmul(x, held, held)
    del held
    assert reference() is None
    (g,) = torch.autograd.grad(y.sum(), x)
    assert g.tolist() == [1.0, 1.0]


def test_a_write_through_a_view_of_what_needs_no_gradient_saves_for_the_root():
    for index in (slice(None), slice(1, 2)):
        x, w = leaf(1.0, 2.0), leaf(3.0)
        root = torch.tensor([5.0, 7.0])
        root[index].mul_(w)
        root[index].mul_(torch.tensor([2.0]))
        root.mul_(x)
        root.sum().backward()
        inside = torch.tensor([5.0, 7.0])[index] * torch.tensor([1.0, 2.0])[index] * 2
        assert w.grad.tolist() == [inside.sum().item()]


@pytest.mark.parametrize(
    "move", ["transpose_(0, 1)", "t_()", "unsqueeze_(0)", "swapaxes_(0, -1)", "as_strided_((2, 2), (1, 2))"]
)
def test_views_that_are_laid_out_anew_before_they_are_changed(move):
    """Such operators write nothing: what follows reaches the base as its own layout has it."""
    x = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    base = x * 1
    view = base.view_as(base)
    eval("view." + move)
    places = torch.arange(6).reshape(2, 3)
    eval("places." + move)
    view.mul_(view.detach() * 2)
    reached = torch.zeros(6, dtype=torch.bool).index_fill(0, places.reshape(-1), True).reshape(2, 3)
    assert torch.equal(base, torch.where(reached, 2 * x * x, x))
    (base * base).sum().backward()
    assert torch.equal(x.grad, torch.where(reached, 8 * x**3, 2 * x))


FROZEN = {
    "mm": lambda w, v: w @ v[:, None],
    "mv": lambda w, v: w @ v,
    "dot": lambda w, v: w[0] @ v,
    "bmm": lambda w, v: torch.bmm(w[None], v[None, :, None]),
    "addmm": lambda w, v: torch.addmm(torch.ones(3, 1), w, v[:, None]),
    "addmv": lambda w, v: torch.addmv(torch.ones(3), w, v),
    "baddbmm": lambda w, v: torch.baddbmm(torch.ones(1, 3, 1), w[None], v[None, :, None]),
    "addbmm": lambda w, v: torch.addbmm(torch.ones(3, 1), w[None], v[None, :, None]),
    "linear": lambda w, v: torch.nn.functional.linear(v[None], w),
    "linear's weight": lambda w, v: torch.nn.functional.linear(w, v[None]),
    "einsum": lambda w, v: torch.einsum("ij,j->i", w, v),
}


@pytest.mark.parametrize("name", FROZEN)
def test_products_save_only_what_their_gradients_need(name):
    """With one operand frozen, the other one may be changed, or let go of."""
    w, x = torch.arange(12.0).reshape(3, 4), torch.arange(1.0, 5.0).requires_grad_()
    v = x * 1
    product = FROZEN[name](w, v)
    v.tanh_()
    product.sum().backward()
    assert torch.equal(x.grad, w[0] if name == "dot" else w.sum(0))


@pytest.mark.parametrize("op", ["exp", "tanh", "sigmoid", "sqrt"])
def test_second_derivatives_of_writes_to_views_that_save_their_result(op):
    start = torch.linspace(0.5, 2, 6, dtype=torch.float64).reshape(2, 3)
    found = []
    for in_place in (True, False):
        x = start.clone().requires_grad_()
        y = x * 1
        if in_place:
            getattr(y[0], op + "_")()
        else:
            y = torch.stack([getattr(y[0], op)(), y[1]])
        (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        found.append(torch.autograd.grad((g * g).sum(), x)[0])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.renorm_(2, 0, 0.5),
        lambda y: y.polygamma_(1),
        lambda y: y.mvlgamma_(1),
        lambda y: y.addr_(torch.ones(2), y[0]),
        lambda y: y.index_reduce_(0, torch.tensor([0, 0]), torch.full((2, 3), 2.0), "prod"),
    ],
    ids=["renorm_", "polygamma_", "mvlgamma_", "addr_", "index_reduce_"],
)
def test_operators_made_of_others_have_gradients_in_place(write):
    x = torch.tensor([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5]], requires_grad=True)
    y = x * 1
    write(y)
    (in_place,) = torch.autograd.grad(y.sin().sum(), x)
    z = write(_OutOfPlace(x * 1))
    (apart,) = torch.autograd.grad(z.sin().sum(), x)
    assert torch.equal(y, z) and torch.allclose(in_place, apart)


class _OutOfPlace:
    """A tensor whose methods in place are those that make a new tensor."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __getattr__(self, name):
        return getattr(self.tensor, name.removesuffix("_"))

    def __getitem__(self, index):
        return self.tensor[index]


def test_views_of_what_was_detached_in_place_keep_their_history():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    row = y[1:]
    y.detach_()
    assert row.requires_grad and not y.requires_grad
    row.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_source_of_masked_scatter_may_be_changed():
    source = torch.ones(3, requires_grad=True)
    values = source * 2
    y = torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), values)
    with torch.no_grad():
        values.zero_()
    y.sum().backward()
    assert source.grad.tolist() == [2.0, 2.0, 0.0]

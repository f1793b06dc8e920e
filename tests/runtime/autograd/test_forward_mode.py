"""Dual tensors: how tangents come, follow operators, views and writes, and go with their level."""

import gc
import weakref

import pytest

import vivace as torch
from vivace.autograd import forward_ad
from vivace.autograd.forward_ad import make_dual, unpack_dual

X, T = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, -1.0, 2.0])


@pytest.fixture
def level():
    with forward_ad.dual_level() as number:
        yield number


def dual(x=X, t=T):
    return make_dual(x.clone(), t.clone())


def tangent(t):
    return unpack_dual(t).tangent


def values(t):
    found = tangent(t)
    return None if found is None else found.tolist()


def test_levels():
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        make_dual(X, T)
    assert unpack_dual(X) == (X, None) and unpack_dual(X).primal is X
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        forward_ad.exit_dual_level()
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            forward_ad.enter_dual_level()
        with pytest.raises(RuntimeError, match="not the last one that was created"):
            forward_ad.exit_dual_level(level=5)
        kept = dual()
        y = kept * 2
        assert values(y) == [1, -2, 4]
    assert unpack_dual(y).tangent is None and (y + kept).tolist() == [3, 6, 9]
    with forward_ad.dual_level():
        assert tangent(y) is None and tangent(kept) is None

    @forward_ad.dual_level()
    def square(x):
        return tangent(make_dual(x, torch.ones_like(x)) ** 2)

    assert square(X).tolist() == [2, 4, 6] and square(X).tolist() == [2, 4, 6]


def test_making(level):
    d = make_dual(X, T)
    primal, t = unpack_dual(d)
    assert t is T and primal is not X and primal.tolist() == X.tolist()
    assert d._is_view() and d._base is X and d.is_leaf and not d.requires_grad and d.data_ptr() == X.data_ptr()
    assert repr(d) == "tensor([1., 2., 3.], tangent=tensor([ 0.5000, -1.0000,  2.0000]))"
    with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
        make_dual(d, T)
    with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient"):
        make_dual(X, d)
    with pytest.raises(
        RuntimeError, match=r"Tensor is of size \[3\] while the given forward gradient is of size \[2\]"
    ):
        make_dual(X, T[:2])
    with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: torch.int64"):
        make_dual(torch.arange(3), T)
    with pytest.raises(ValueError, match="Expected tangent to be floating point"):
        make_dual(X, torch.arange(3))
    with pytest.raises(RuntimeError, match="Invalid level given to _make_dual"):
        make_dual(X, T, level=1)
    other_layout = torch.arange(6.0).view(3, 2).t()
    stored = tangent(make_dual(torch.ones(2, 3), other_layout))
    assert stored.stride() == (3, 1) and stored.tolist() == other_layout.tolist()


def test_what_keeps_a_tangent(level):
    d = dual()
    assert values(d.clone()) == T.tolist() and tangent(d.contiguous()) is tangent(d)
    for cut in (d.detach(), d.data, torch.nn.Parameter(d), d.view(torch.int32), d.long(), d == d, d.argmax()):
        assert tangent(cut) is None
    assert tangent((d * 1).detach_()) is None
    assert tangent(d.double()).dtype == torch.float64
    assert values(d.floor()) == [0, 0, 0]
    value, index = d.max(0)
    assert values(value) == 2 and tangent(index) is None
    assert [values(part) for part in d.chunk(2)] == [[0.5, -1], [2]]
    assert values(torch.cat([X, d])) == [0, 0, 0, 0.5, -1, 2]
    assert values(torch.stack([d, X])) == [T.tolist(), [0, 0, 0]]
    assert values(d + torch.ones(2, 3)) == [T.tolist()] * 2
    number = torch.complex(X, X)
    assert torch.allclose(tangent(make_dual(number, torch.complex(T, 2 * T)).abs()), 3 * T / 2**0.5)
    assert d.tolist() == X.tolist() and bool(d[0] > 0) and d.requires_grad_().requires_grad and values(d) == T.tolist()


def test_tangents_of_results_are_their_own(level):
    d = dual()
    for y in (d + 1, d.clone(), d.expand(2, 3) + 0, torch.where(d > 0, d, 0.0)):
        tangent(y).zero_()
    assert values(d) == T.tolist()


def test_modes(level):
    d = dual()
    with torch.no_grad():
        assert values(d * 2) == (2 * T).tolist()
    with torch.inference_mode():
        assert values(d * 2) == (2 * T).tolist() and values(d.softmax(0).sum()) == pytest.approx(0, abs=1e-6)
    with forward_ad._set_fwd_grad_enabled(False):
        assert not forward_ad._is_fwd_grad_enabled() and tangent(d) is None
        y = d * 2
    assert tangent(y) is None and forward_ad._is_fwd_grad_enabled()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        product = torch.mm(d.view(1, 3), X.view(3, 1))
    assert product.dtype == torch.bfloat16 and values(product) == [[4.5]]


def test_writes(level):
    d = dual()
    assert d.mul_(d) is d and values(d) == (2 * X * T).tolist()
    d.normal_()
    assert values(d) == [0, 0, 0]
    plain = torch.zeros(3)
    plain.copy_(dual())
    assert values(plain) == T.tolist()
    plain.fill_(1.0)
    assert values(plain) == [0, 0, 0]
    whole = torch.zeros(3, dtype=torch.long)
    whole.copy_(dual())
    assert tangent(whole) is None
    turned = make_dual(torch.ones(2, 3), torch.arange(6.0).view(2, 3))
    turned.transpose_(0, 1)
    assert values(turned) == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(RuntimeError, match="cannot resize variables that has a forward grad"):
        turned.resize_(2)
    for call in (lambda: torch.mul(d, 2, out=torch.empty(3)), lambda: torch.mul(X, 2, out=d)):
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with mul_out that does not support it"):
            call()


def test_views(level):
    base = torch.zeros(2, 3)
    before = base[:, 1]
    row = base[0]
    row.copy_(dual())
    assert values(base) == [T.tolist(), [0, 0, 0]] and values(row) == T.tolist()
    assert values(before) == [-1, 0] and values(before * 2) == [-2, 0] and values(base[1]) == [0, 0, 0]
    before.mul_(3)
    assert values(base) == [[0.5, -3, 2], [0, 0, 0]] and values(row) == [0.5, -3, 2]
    base[1] = dual()
    assert values(base)[1] == T.tolist()
    base[0] = 5.0
    assert values(row) == [0, 0, 0]
    numbers = torch.view_as_complex(torch.zeros(3, 2))
    numbers.real.copy_(dual())
    assert values(numbers) == T.tolist()
    source = torch.zeros(3)
    aside = source.detach()
    aside.copy_(dual())
    assert tangent(source) is None and values(aside) == T.tolist()
    primal = torch.zeros(3)
    made = make_dual(primal, T.clone())
    made.mul_(2)
    assert tangent(primal) is None and values(made) == (2 * T).tolist()
    primal = unpack_dual(base).primal
    assert tangent(primal) is None and tangent(primal * 2) is None


def test_subclasses(level):
    class Named(torch.Tensor):
        pass

    made = dual().as_subclass(Named)
    result = made * 2
    del made
    gc.collect()
    assert type(result) is Named and values(result) == (2 * T).tolist()


def test_as_strided_reaches_beyond_its_tensor(level):
    part = torch.arange(10.0)[4:]
    d = make_dual(part, part.clone())
    assert values(d.as_strided((3,), (2,), 2)) == [0, 4, 6] and values(d.as_strided((2,), (1,))) == [4, 5]


def test_norms_at_zero(level):
    d = make_dual(torch.zeros(3), T)
    assert [values(torch.linalg.vector_norm(d, p)) for p in (1.5, 2, 3)] == [0, 0, 0]


def test_with_backward(level):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = make_dual(x, torch.ones(2))
    assert d.requires_grad and not d.is_leaf
    for square in (
        lambda t: t * t * t,
        lambda t: t**3,
        lambda t: (t.clone().mul_(t)).mul_(t),
        lambda t: (3 * t.log()).exp(),
    ):
        y = square(d).sum()
        (fwd_over_rev,) = torch.autograd.grad(y, x, retain_graph=True)
        assert torch.allclose(tangent(fwd_over_rev), torch.tensor([6.0, 12.0]))
        (rev_over_fwd,) = torch.autograd.grad(tangent(y), x)
        assert torch.allclose(rev_over_fwd, torch.tensor([6.0, 12.0]))
    weight = T.clone().requires_grad_()
    y = dual() * make_dual(X, weight)
    assert not y.requires_grad and torch.autograd.grad(tangent(y).sum(), weight)[0].tolist() == X.tolist()


def test_operators_without_a_derivative(level):
    scores = torch.randn(5, 1, 3).log_softmax(-1)
    call = lambda d: torch.nn.functional.ctc_loss(d, torch.ones(1, 2, dtype=torch.long), (5,), (2,))
    with pytest.raises(NotImplementedError, match="forward AD with _ctc_loss .* backward can't be differentiated"):
        call(make_dual(scores, scores))

    @torch.library.custom_op("forward_mode::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert double(X).tolist() == [2, 4, 6]
    with pytest.raises(NotImplementedError, match="forward_mode::double .* has not been implemented yet"):
        double(dual())
    library = torch.library.Library("forward_mode", "FRAGMENT")
    library.define("triple(Tensor x) -> Tensor")
    library.impl("triple", lambda x: x * 3, "CompositeImplicitAutograd")
    assert values(torch.ops.forward_mode.triple(dual())) == (3 * T).tolist()


def test_nothing_is_left():
    """Graph, saved values and tangents refer to each other: leaving the level frees them, and so does the collector."""
    gc.collect()
    gc.disable()
    try:
        with forward_ad.dual_level():
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            d = make_dual(x, torch.ones(2))
            y = d.exp().tanh()
            t = weakref.ref(tangent(y))
        del d, y, x
        assert t() is None
    finally:
        gc.enable()
    with forward_ad.dual_level():  # what a node saved is held by the graph of its own tangent alone
        d = make_dual(torch.ones(3, requires_grad=True), torch.ones(3))
        kept = [d.tanh() for _ in range(100)]
    assert all(tangent(y) is None for y in kept)
    with forward_ad.dual_level():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = make_dual(x, torch.ones(2)).exp()
        t = weakref.ref(tangent(y))
        del x, y
        gc.collect()
        assert t() is None, "the collector sees tangents"

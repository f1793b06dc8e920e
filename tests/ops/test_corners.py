"""Cases of single operators that samples don't reach."""

import itertools
import math
import warnings

import numpy as np
import pytest

import vivace as torch

F = torch.nn.functional


def test_nonzero_with_as_tuple_spelled_out():
    x = torch.tensor([[0, 1], [2, 0]])
    assert torch.nonzero(x, as_tuple=False).tolist() == [[0, 1], [1, 0]] == x.nonzero(as_tuple=False).tolist()
    assert [t.tolist() for t in torch.nonzero(x, as_tuple=True)] == [[0, 1], [1, 0]]


def test_isclose_of_integers_uses_the_tolerances():
    assert torch.isclose(torch.tensor(100000), torch.tensor(100001)).item()
    assert not torch.isclose(torch.tensor(2**53 + 1), torch.tensor(2**53), rtol=0, atol=0).item()
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero"):
        torch.isclose(torch.tensor(1.0), torch.tensor(1.0), rtol=-1)


def test_arange_ends_do_not_depend_on_the_dtype():
    for dtype in (torch.int32, torch.float32):
        assert torch.arange(0, 2.5, dtype=dtype).tolist() == [0, 1, 2]
    assert torch.arange(0, 2.5, dtype=torch.int64).tolist() == [0, 1, 2]
    assert torch.arange(3, 0, -1.9, dtype=torch.int64).tolist() == torch.arange(3, 0, -1.9, dtype=torch.int32).tolist()
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.arange(0, 3, 0)
    with pytest.raises(ValueError, match="step must be nonzero"):
        torch.arange(0, 3, 0.5, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="overflow"):
        torch.arange(-(2**63), 2**63 - 1)


def test_negated_bools_are_refused_in_words():
    for negate in (torch.neg, lambda t: -t, lambda t: t.neg_()):
        with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor"):
            negate(torch.tensor([True]))


def test_combinations_of_too_many_keep_the_graph():
    assert torch.combinations(torch.ones(2, requires_grad=True), 3).requires_grad


def test_diff_of_order_0_is_the_input():
    x = torch.arange(4.0)
    assert torch.diff(x, 0, prepend=torch.ones(2)).tolist() == x.tolist()


def test_ldexp_out_of_the_range_of_the_power():
    assert torch.ldexp(torch.tensor([2.0**-100]), torch.tensor([130])).item() == 2.0**30
    assert torch.ldexp(torch.tensor([1.5], dtype=torch.float16), torch.tensor([1])).dtype == torch.float16


def test_logsumexp_of_complex():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    assert abs(torch.logsumexp(x, 0).exp().item() - x.exp().sum().item()) < 1e-12
    assert torch.logsumexp(torch.tensor([1e4 + 1j, 0j]), 0).item() == 1e4 + 1j


def test_losses_warn_of_sizes_that_differ():
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[3\]\)\) that is different"):
            loss(torch.zeros(3, 1), torch.zeros(3))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loss(torch.zeros(3), torch.zeros(3))


def test_cross_entropy_over_no_classes_is_nan():
    assert math.isnan(F.cross_entropy(torch.zeros(3, 0), torch.zeros(3, 0)).item())


def test_batch_norm_without_channels():
    assert F.batch_norm(torch.zeros(0), torch.zeros(0), torch.ones(0)).shape == (0,)


@pytest.mark.parametrize("repeated", [False, True])
def test_combinations(repeated):
    choose = itertools.combinations_with_replacement if repeated else itertools.combinations
    for n, r in itertools.product(range(5), range(1, 5)):
        ours = torch.combinations(torch.arange(n), r, repeated)
        assert ours.tolist() == [list(c) for c in choose(range(n), r)] and ours.shape[1] == r
    for n, r in ((100_000, 4), (100_000, 9)):  # without counting them up
        with pytest.raises(RuntimeError):
            torch.combinations(torch.arange(n), r, repeated)
    with pytest.raises(RuntimeError, match="too large"):
        torch.combinations(torch.arange(3), 2**63 - 1, repeated)


def test_as_strided_refuses_what_overflows():
    x = torch.arange(10)
    for offset in (2**62 + 12345, 2**63 - 4096):
        with pytest.raises(RuntimeError):
            torch.as_strided(x, (4,), (3,), offset)
    with pytest.raises(RuntimeError):
        torch.as_strided_scatter(torch.zeros(9), torch.ones(2), (2,), (1,), 2**63 - 2)


def test_as_strided_scatter_gradients():
    x, source = torch.arange(9.0).requires_grad_(), torch.ones(2, requires_grad=True)
    torch.as_strided_scatter(x, source, (2,), (3,), 1).mul(torch.arange(9.0)).sum().backward()
    assert x.grad.tolist() == [0, 0, 2, 3, 0, 5, 6, 7, 8] and source.grad.tolist() == [1, 4]


def test_scatter_reduce_prod_with_zeros():
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    source = torch.tensor([0.0, 3.0, 0.0, 5.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([1, 1, 0, 1]), source, "prod").sum().backward()
    assert x.grad.tolist() == [0, 0] and source.grad.tolist() == [30, 0, 0, 0]


def test_second_derivative_of_logcumsumexp_at_a_gradient_of_0():
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x.logcumsumexp(0)[0], x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [1, 0] and second.tolist() == [0, 0]


@pytest.mark.parametrize("heads", [(0, 0), (2, 0), (0, 2), (3, 3), (2, 3)])
def test_attention_groups_that_do_not_divide(heads):
    key, value = (torch.ones(2, n, 5, 4) for n in heads)
    with pytest.raises(RuntimeError, match="must divide the number of heads in query"):
        F.scaled_dot_product_attention(torch.ones(2, 4, 3, 4), key, value, enable_gqa=True)


def test_integers_keep_their_dtype_in_products():
    x, y = torch.ones(2, 3, dtype=torch.uint8), torch.ones(4, dtype=torch.uint8)
    assert torch.einsum("ik,j->ij", x, y).dtype == torch.int64  # k is summed before the product
    assert torch.einsum("ik,jk->ij", x, x).dtype == torch.uint8
    assert F.bilinear(x, x, torch.ones(5, 3, 3, dtype=torch.uint8)).dtype == torch.uint8


def test_complex_forms_of_real_functions():
    a = torch.tensor([1.5 - 0.5j, -0.3 + 2j, 0j], dtype=torch.complex128, requires_grad=True)
    b = torch.tensor([-0.5 + 1j, 3.0 + 0j, 1 - 1j], dtype=torch.complex128, requires_grad=True)
    assert torch.allclose(torch.logaddexp(a, b), (a.exp() + b.exp()).log())
    assert torch.logaddexp(a.detach() + 1000, b.detach() + 1000).isfinite().all()
    assert torch.allclose(torch.sinc(b), (b * math.pi).sin() / (b * math.pi)) and torch.sinc(a)[2].item() == 1
    assert torch.allclose(F.softsign(a), a / (1 + a.abs())) and torch.allclose(F.tanhshrink(a), a - a.tanh())
    for function in (torch.sinc, F.softsign, F.tanhshrink):
        assert torch.autograd.gradcheck(function, (b,))
    assert torch.autograd.gradcheck(torch.logaddexp, (a, b))
    assert torch.autograd.gradcheck(lambda x: x.logcumsumexp(0), (b,))


def test_interpolation_of_bytes_rounds():
    x = torch.tensor([[[[0, 255], [255, 0]]]], dtype=torch.uint8)
    got = F.interpolate(x, size=(2, 4), mode="bilinear", align_corners=True)
    assert got[0, 0, 0].tolist() == [0, 85, 170, 255]
    assert F.interpolate(x, size=(2, 3), mode="bilinear", align_corners=True)[0, 0, 0].tolist() == [0, 128, 255]


def test_covariances():
    x = torch.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]], dtype=torch.float64)
    repeated = x.repeat_interleave(torch.tensor([2, 0, 3]), 1)
    assert torch.allclose(x.cov(fweights=torch.tensor([2, 0, 3])), repeated.cov())
    np.testing.assert_allclose(x.corrcoef().numpy(), np.corrcoef(x.numpy()))
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert x.cov(correction=3).isinf().all()
    with pytest.raises(RuntimeError, match="cannot be negative"):
        x.cov(fweights=torch.tensor([1, -1, 1]))


@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 5), (9, 2), (2, 2, 2), (3, 0)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    want = np.zeros(shape)
    np.fill_diagonal(want, 5, wrap)
    x = torch.zeros(shape)
    assert x.fill_diagonal_(5, wrap) is x
    np.testing.assert_array_equal(x.numpy(), want)
    tall = torch.zeros(*reversed(shape)).permute(*reversed(range(len(shape))))
    np.testing.assert_array_equal(tall.fill_diagonal_(5, wrap).numpy(), want)
    with pytest.raises(RuntimeError, match="must larger than 1"):
        torch.zeros(3).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="of equal length"):
        torch.zeros(2, 2, 3).fill_diagonal_(1)


def test_in_place_forms_as_functions():
    x = torch.tensor([3.0, -1.0], dtype=torch.float64)
    assert torch.clamp_(x, max=2) is x and torch.clamp_min_(x, 0) is x and x.tolist() == [2, 0]
    assert x.float_power_(3).tolist() == [8, 0]
    with pytest.raises(RuntimeError, match="float_power_"):
        torch.ones(2).float_power_(2)


def test_numbers_of_parts_that_no_memory_holds():
    for split in (torch.chunk, torch.unsafe_chunk):
        with pytest.raises(RuntimeError, match="chunk of an empty dimension: not enough memory"):
            split(torch.empty(0), 2**62)
    with pytest.raises(RuntimeError):
        torch.mvlgamma(torch.ones(2), 2**50)


def test_arithmetic_of_two_numbers_gives_a_tensor():
    for result, value, dtype in (
        (torch.mul(5, 5), 25, torch.int64),
        (torch.multiply(True, 2), 2, torch.int64),
        (torch.add(True, True), True, torch.bool),
        (torch.add(2, 3, alpha=2), 8, torch.int64),
        (torch.sub(5, 5, alpha=3), -10, torch.int64),
        (torch.subtract(1.5, 2), -0.5, torch.float32),
        (torch.add(2j, 1), 1 + 2j, torch.complex64),
        (torch.div(5, 2), 2.5, torch.float32),
        (torch.true_divide(6, 2), 3.0, torch.float32),
        (torch.divide(-7, 2, rounding_mode="trunc"), -3, torch.int64),
        (torch.floor_divide(-7, 2), -4, torch.int64),
    ):
        assert result.dim() == 0 and result.item() == value and result.dtype == dtype
    with pytest.raises(TypeError, match="remainder"):
        torch.remainder(5, 2)


def test_counts_of_indices_and_slices_differ():
    x, index = torch.zeros(3, 2), torch.tensor([0, 1])
    text = r"index_add_\(\): Number of indices \(2\) should be equal to source.size\(dim\): \(3\), for dim: 0"
    with pytest.raises(RuntimeError, match=text):
        x.index_add(0, index, torch.ones(3, 2))
    with pytest.raises(
        IndexError, match=r"index_copy_\(\): Number of indices \(2\) should be equal to source.size\(dim\)"
    ):
        x.index_copy(0, index, torch.ones(3, 2))


def test_logit_outside_its_range_is_nan_in_a_graph_too():
    x = torch.tensor([2.0, 0.5], requires_grad=True)
    for create_graph in (False, True):
        (g,) = torch.autograd.grad(torch.logit(x).sum(), x, create_graph=create_graph)
        assert g.isnan().tolist() == [True, False] and g[1].item() == 4.0


def test_more_views_than_there_is_memory_for():
    empty = torch.zeros(0, 2**40)
    for call in (
        lambda: torch.zeros(3).tensor_split(2**31),
        lambda: empty.unbind(1),
        lambda: empty.split(1, 1),
        lambda: empty.chunk(2**30, 1),
    ):
        with pytest.raises(RuntimeError, match="not enough memory for .* views"):
            call()


def test_repeats_that_overflow():
    with pytest.raises(RuntimeError, match="the size of dimension 0 overflows"):
        torch.ones(2).repeat(2**63 - 1)
    with pytest.raises(RuntimeError, match="overflows"):
        torch.ones(2, 3).tile(2**62, 2**62)


def test_equal_promotes():
    assert torch.equal(torch.tensor([1.0]), torch.tensor([1]))
    assert torch.equal(torch.empty(0), torch.empty(0, dtype=torch.int32))
    assert not torch.equal(torch.tensor(1.0), torch.tensor(1j))
    assert not torch.equal(torch.tensor([1.0]), torch.tensor([1, 2]))


def test_nan_stands_behind_all_numbers_in_a_search():
    edges, values = torch.tensor([1.0, 2.0, math.nan]), torch.tensor([math.nan, math.inf, 1.5])
    assert torch.searchsorted(edges, values).tolist() == [3, 3, 1]
    assert torch.searchsorted(edges, values, right=True).tolist() == [3, 3, 1]
    assert torch.bucketize(values, edges[:2]).tolist() == [2, 2, 1]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_shifts_beyond_the_width(dtype):
    info = torch.iinfo(dtype)
    x = torch.tensor([info.max, info.min, 1], dtype=dtype)
    for count in (info.bits, info.bits + 1):
        assert (x << count).tolist() == [0, 0, 0]
        assert (x >> count).tolist() == [0, -1 if info.min else 0, 0]


def test_ldexp_of_zero_and_infinity():
    x = torch.tensor([0.0, math.inf, -math.inf, 1e-40, 1e30])
    expected = [0.0, math.inf, -math.inf]
    assert torch.ldexp(x[:3], torch.tensor([300])).tolist() == expected
    assert torch.ldexp(x[:3], torch.tensor([-300])).tolist() == expected
    assert torch.ldexp(torch.tensor([0.0]), torch.tensor([255], dtype=torch.uint8)).item() == 0
    assert torch.ldexp(torch.tensor(2.0**-149), torch.tensor(276)).item() == 2.0**127
    assert torch.ldexp(torch.tensor(2.0**-1074, dtype=torch.float64), torch.tensor(2097)).item() == 2.0**1023


def test_circular_padding_goes_round_what_negative_padding_leaves():
    x = torch.arange(4.0).view(1, 1, 4)
    assert F.pad(x, (-1, 2), "circular").tolist() == [[[1, 2, 3, 1, 2]]]
    assert F.pad(x, (1, -1), "circular").tolist() == [[[2, 0, 1, 2]]]
    image = torch.arange(16.0).view(1, 1, 4, 4)
    assert F.pad(image, (-2, 1, -2, 1), "circular").tolist() == [[[[10, 11, 10], [14, 15, 14], [10, 11, 10]]]]


def test_wide_unsigned_integers_with_complex_numbers():
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        assert (torch.ones(2, dtype=dtype) * 1j).tolist() == [1j, 1j]
        assert torch.result_type(torch.ones(2, dtype=dtype), torch.tensor(1j)) == torch.complex64


def test_complex_numbers_are_true_or_false():
    assert torch.zeros(2, dtype=torch.bool).fill_(1j).tolist() == [True, True]
    assert torch.full((1,), 0j, dtype=torch.bool).tolist() == [False]


def test_transposes_of_numbers_and_lines_warn():
    for view in (lambda: torch.tensor(5.0).mT, lambda: torch.tensor(5.0).mH, lambda: torch.ones(3).T):
        with pytest.warns(UserWarning, match="deprecated"):
            view()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor(5.0).T.item() == 5 and torch.ones(2, 3).T.shape == (3, 2)


def test_lost_imaginary_parts_are_told():
    z = torch.tensor([1 + 2j])
    for call in (lambda: z.float(), lambda: torch.zeros(1).copy_(z), lambda: z.to(torch.int32)):
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
            assert call().item() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert z.bool().item() and z.to(torch.complex128).item() == 1 + 2j


def test_resizing_to_the_same_size_changes_nothing():
    t = torch.ones(2, 3).t()
    assert t.resize_(3, 2).stride() == (1, 3)
    assert t.resize_(2, 3).stride() == (3, 1)

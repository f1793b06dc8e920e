"""channels_last goes from images to what is computed from them, and changes no values."""

import pytest

import vivace as torch
from vivace.nn import functional as F

OPERATORS = {
    "add": lambda x: x + 1,
    "mul": lambda x: x * torch.ones(1, 8, 1, 1),
    "relu": lambda x: F.relu(x),
    "compare": lambda x: x > 0,
    "to": lambda x: x.double(),
    "clone": lambda x: x.clone(),
    "zeros_like": lambda x: torch.zeros_like(x),
    "conv2d": lambda x: F.conv2d(x, torch.linspace(-1, 1, 4 * 8 * 9).reshape(4, 8, 3, 3), padding=1),
    "conv2d, grouped": lambda x: F.conv2d(x, torch.linspace(-1, 1, 8 * 9).reshape(8, 1, 3, 3), groups=8),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x, torch.linspace(-1, 1, 8 * 36).reshape(8, 4, 3, 3)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool2d, indices": lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "pad": lambda x: F.pad(x, (1, 1, 1, 1)),
    "pad, reflect": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "interpolate, bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "cat": lambda x: torch.cat([x, x], 1),
    "index": lambda x: x[torch.tensor([1, 0])],
    "group_norm": lambda x: F.group_norm(x, 2, torch.arange(8.0), torch.ones(8)),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "sort": lambda x: torch.sort(x)[0],
    "argsort": lambda x: torch.argsort(x, 1),
    "roll": lambda x: torch.roll(x, (1, -2), (1, 2)),
    "stack": lambda x: torch.stack([x, x + 1])[1],
}


def images():
    return (torch.arange(2 * 8 * 6 * 5) * 37 % 101 - 50.0).reshape(2, 8, 6, 5) / 10


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_is_kept(operator):
    x = images()
    got = operator(x.to(memory_format=torch.channels_last))
    assert got.is_contiguous(memory_format=torch.channels_last) and not got.is_contiguous()
    torch.testing.assert_close(got, operator(x), check_stride=False)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_weight_alone_decides_too(device):
    weight = torch.ones(4, 8, 3, 3, device=device).to(memory_format=torch.channels_last)
    assert F.conv2d(images().to(device), weight).is_contiguous(memory_format=torch.channels_last)


def test_volumes():
    x = torch.randn(2, 4, 5, 6, 3).to(memory_format=torch.channels_last_3d)
    for y in (x * 2, F.conv3d(x, torch.ones(2, 4, 3, 3, 3)), F.max_pool3d(x, 2), F.interpolate(x, scale_factor=2)):
        assert y.is_contiguous(memory_format=torch.channels_last_3d) and not y.is_contiguous()
    assert F.avg_pool3d(x, 2).is_contiguous()


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [((1, 1, 4, 4), (16, 1, 4, 1)), ((1, 3, 1, 1), (3, 1, 3, 3)), ((0, 3, 4, 4), (48, 1, 12, 3))],
)
def test_strides_of_dims_of_one_element(sizes, strides):
    assert torch.randn(sizes).to(memory_format=torch.channels_last).stride() == strides


def test_gradients_are_of_the_same_values():
    weight = torch.linspace(-1, 1, 4 * 8 * 9).reshape(4, 8, 3, 3)
    grads = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        x = images().to(memory_format=memory_format).requires_grad_()
        w = weight.clone().requires_grad_()
        F.max_pool2d(F.pad(F.conv2d(x, w), (1, 1, 1, 1), mode="reflect"), 2).pow(2).sum().backward()
        grads.append((x.grad, w.grad))
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, check_stride=False, rtol=1e-4, atol=1e-4)


def test_a_stack_is_laid_out_as_if_joined_along_its_dim():
    x = torch.randn(2, 4, 6, 8).to(memory_format=torch.channels_last)
    strides = [(384, 192, 1, 32, 4), (384, 4, 1, 64, 8), (384, 1, 192, 32, 4), (384, 1, 64, 32, 4), (384, 96, 16, 2, 1)]
    for dim, wanted in enumerate(strides):
        stacked = torch.stack([x, x + 1], dim)
        assert stacked.stride() == wanted
        assert torch.equal(stacked.select(dim, 1), x + 1)
    v = torch.randn(2, 4, 2, 6, 8).to(memory_format=torch.channels_last_3d)
    assert torch.cat([v, v], 1).is_contiguous(memory_format=torch.channels_last_3d)


def test_dropout_keeps_the_layout_of_what_it_drops_from():
    for x in (images().to(memory_format=torch.channels_last), images().permute(3, 1, 0, 2)):
        x = x.abs() + 1
        y = F.dropout(x.requires_grad_(), 0.5)
        assert y.stride() == x.stride() and not y.is_contiguous()
        (g,) = torch.autograd.grad(y.sum(), x)
        assert torch.equal(y, torch.where(y != 0, 2 * x, 0 * x)) and torch.equal(g, torch.where(y != 0, 2.0, 0.0))


ROW_MAJOR = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(1),
    "softmax's gradient": lambda x: torch.autograd.grad(x.requires_grad_().softmax(1), x, torch.ones(2, 3, 4))[0],
    "tril": lambda x: x.tril(),
    "scatter": lambda x: x.scatter(1, torch.zeros(2, 1, 4, dtype=torch.int64), 0.0),
    "scatter_add": lambda x: x.scatter_add(1, torch.zeros(2, 1, 4, dtype=torch.int64), x.detach()),
    "index_add": lambda x: x.index_add(1, torch.arange(3), x.detach()),
    "index_copy": lambda x: x.index_copy(1, torch.arange(3), x.detach()),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "bernoulli": lambda x: x.bernoulli(0.5),
}


@pytest.mark.parametrize("name", ROW_MAJOR)
def test_results_that_are_contiguous_whatever_was_given(name):
    """As in PyTorch, so that view() works on them."""
    given = torch.rand(2, 4, 3).transpose(1, 2)
    assert not given.is_contiguous() and ROW_MAJOR[name](given).is_contiguous()


def test_attention_keeps_the_order_of_the_querys_dims():
    q = torch.ones(2, 3, 4, 8)
    attention = F.scaled_dot_product_attention
    assert attention(q, q, q).stride() == (96, 32, 8, 1)
    split = torch.ones(2, 4, 3, 8).transpose(1, 2)
    assert attention(split, split, split).stride() == (96, 8, 24, 1)

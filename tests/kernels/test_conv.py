"""Convolution against its definition, and the second derivatives of its three operators."""

import itertools

import numpy as np
import pytest


def _conv2d(x, w, stride, padding, dilation, groups):
    """By the definition, in float64."""
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    n, _c, h, width = x.shape
    o, per_group, kh, kw = w.shape
    oh = (h - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, o, oh, ow))
    for i, j in itertools.product(range(kh), range(kw)):
        part = x[:, :, i * dilation[0] :, j * dilation[1] :][:, :, :: stride[0], :: stride[1]][:, :, :oh, :ow]
        for k in range(o):
            first = k // (o // groups) * per_group
            y[:, k] += np.einsum("nchw,c->nhw", part[:, first : first + per_group], w[k, :, i, j])
    return y


@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (2, 5)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (2, 3)])
@pytest.mark.parametrize("padding", [(0, 0), (1, 2)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d(module, kernel, stride, padding, dilation, groups):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 4, 9, 11)), rng.standard_normal((6, 4 // groups, *kernel))
    got = module.nn.functional.conv2d(
        module.from_numpy(x), module.from_numpy(w), None, stride, padding, dilation, groups
    )
    np.testing.assert_allclose(got.numpy(), _conv2d(x, w, stride, padding, dilation, groups), rtol=1e-10, atol=1e-10)


def test_large_inputs_are_cut_into_chunks(module):
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((1, 32, 70, 80)), rng.standard_normal((8, 32, 3, 3))
    got = module.nn.functional.conv2d(module.from_numpy(x), module.from_numpy(w), padding=1)
    np.testing.assert_allclose(got.numpy(), _conv2d(x, w, (1, 1), (1, 1), (1, 1), 1), rtol=1e-9, atol=1e-9)


def test_transposed_is_the_adjoint(module):
    rng = np.random.default_rng(2)
    x, w, y = rng.standard_normal((1, 4, 7, 7)), rng.standard_normal((6, 4, 3, 3)), rng.standard_normal((1, 6, 4, 4))
    x, w, y = map(module.from_numpy, (x, w, y))
    conv = module.nn.functional.conv2d(x, w, stride=2, padding=1)
    back = module.nn.functional.conv_transpose2d(y, w, stride=2, padding=1)
    assert float((conv * y).sum()) == pytest.approx(float((x * back).sum()))


def test_same_padding_of_even_kernels(module):
    x = module.ones(1, 1, 5)
    assert module.nn.functional.conv1d(x, module.ones(1, 1, 2), padding="same").tolist() == [[[2, 2, 2, 2, 1]]]


def _windows(size, kernel, stride, padding, dilation):
    """Matrix (output, tap, input) of zeros and ones along one dim."""
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    taken = np.zeros((count, kernel, size))
    for o, t in itertools.product(range(count), range(kernel)):
        at = o * stride + t * dilation - padding
        if 0 <= at < size:
            taken[o, t, at] = 1
    return taken


def _reference(x, w, g, stride, padding, dilation, groups):
    """The convolution and its gradients for g, as products with `_windows`."""
    dims = x.ndim - 2
    taken = [_windows(x.shape[d + 2], w.shape[d + 2], stride[d], padding[d], dilation[d]) for d in range(dims)]
    xs = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    ws = w.reshape(groups, -1, *w.shape[1:])
    outputs, taps, inputs = "uvw"[:dims], "ijk"[:dims], "xyz"[:dims]
    maps = ",".join(o + t + i for o, t, i in zip(outputs, taps, inputs, strict=True))
    terms = {"x": f"ngc{inputs}", "w": f"goc{taps}", "y": f"ngo{outputs}"}
    y = np.einsum(f"{terms['x']},{terms['w']},{maps}->{terms['y']}", xs, ws, *taken, optimize=True)
    gs = g(y).reshape(y.shape)
    dx = np.einsum(f"{terms['y']},{terms['w']},{maps}->{terms['x']}", gs, ws.conj(), *taken, optimize=True)
    dw = np.einsum(f"{terms['y']},{terms['x']},{maps}->{terms['w']}", gs, xs.conj(), *taken, optimize=True)
    return y.reshape(x.shape[0], -1, *y.shape[3:]), dx.reshape(x.shape), dw.reshape(w.shape)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation"),
    [
        ((7,), (3,), (1,), (1,), (1,)),
        ((50,), (5,), (2,), (2,), (1,)),
        ((33,), (3,), (3,), (4,), (2,)),
        ((6, 8), (3, 3), (1, 1), (1, 1), (1, 1)),
        ((7, 19), (3, 2), (2, 3), (0, 4), (1, 2)),
        ((9, 4), (1, 1), (2, 2), (0, 0), (1, 1)),
        ((5, 6), (1, 1), (1, 1), (3, 2), (1, 1)),
        ((20, 20), (2, 2), (3, 3), (0, 0), (1, 1)),
        ((16, 20), (1, 1), (1, 1), (0, 0), (1, 1)),
        ((4, 5, 6), (3, 2, 3), (1, 2, 1), (1, 0, 2), (1, 1, 2)),
        ((3, 3, 40), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1)),
        ((5,), (5,), (2,), (0,), (1,)),
        ((4, 3), (4, 3), (1, 2), (0, 0), (1, 1)),
    ],
)
@pytest.mark.parametrize(("groups", "channels", "outputs"), [(1, 3, 13), (2, 2, 3), (6, 1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_gradients(module, size, kernel, stride, padding, dilation, groups, channels, outputs, dtype):
    rng = np.random.default_rng(3)

    def draw(*sizes):
        values = rng.standard_normal(sizes)
        if dtype == "complex128":
            values = values + 1j * rng.standard_normal(sizes)
        return values.astype(dtype)

    x, w = draw(5, groups * channels, *size), draw(groups * outputs, channels, *kernel)
    reference = np.float64 if dtype == "float32" else dtype
    expected = _reference(
        x.astype(reference), w.astype(reference), lambda y: np.cos(np.abs(y)), stride, padding, dilation, groups
    )
    a, b = module.tensor(x, requires_grad=True), module.tensor(w, requires_grad=True)
    y = getattr(module.nn.functional, f"conv{len(size)}d")(a, b, None, stride, padding, dilation, groups)
    y.backward(module.tensor(np.cos(np.abs(expected[0])).astype(dtype)))
    for got, want in zip((y.detach(), a.grad, b.grad), expected, strict=True):
        scale = np.abs(want).max()
        np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=scale * (1e-5 if dtype == "float32" else 1e-12))


def test_infinite_inputs_of_depthwise_convolution_meet_only_their_taps(module):
    x = module.ones(1, 2, 4, 5)
    x[0, 1, 0, 4] = float("inf")
    w = module.zeros(2, 1, 3, 3, requires_grad=True)
    y = module.nn.functional.conv2d(x, w, padding=1, groups=2)
    y.backward(module.ones_like(y))
    assert w.grad[0].isfinite().all() and not w.grad.isnan().any()
    assert w.grad[1, 0].isinf().sum() == 4  # the taps that reach a corner


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("padding", [0, 1])
def test_infinite_inputs_meet_only_their_taps(module, dtype, padding):
    rng = np.random.default_rng(4)
    x = rng.random((2, 2, 6, 7)).astype(dtype)
    x[0, 1, 1, 6] = np.inf
    w = module.zeros(3, 2, 3, 3, dtype=getattr(module, dtype), requires_grad=True)
    y = module.nn.functional.conv2d(module.from_numpy(x), w, padding=padding)
    y.backward(module.ones_like(y))
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    rows, columns = y.shape[2:]
    for i, j in itertools.product(range(3), range(3)):
        expected = padded[:, :, i : i + rows, j : j + columns].sum((0, 2, 3)).real
        np.testing.assert_allclose(w.grad[:, :, i, j].numpy().real, np.broadcast_to(expected, (3, 2)), rtol=1e-5)


def test_second_derivative_with_output_padding_beyond_the_stride(module):
    """Windows that only the padding has room for take no part in it."""
    x = module.randn(2, 2, 3, 3, dtype=module.float64, requires_grad=True)
    w = module.randn(2, 2, 2, 3, dtype=module.float64, requires_grad=True)

    def f(x, w):
        return module.nn.functional.conv_transpose2d(x, w, stride=(1, 2), output_padding=(1, 2), dilation=(2, 3))

    assert module.autograd.gradgradcheck(f, (x, w))


@pytest.mark.parametrize("channels", [2, 5, 16, 75])
@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"stride": 2, "padding": (2, 1), "dilation": (1, 2)}])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("biased", [False, True])
def test_depthwise_of_channels_last(module, channels, options, dtype, biased):
    rng = np.random.default_rng(4)

    def values(*sizes):
        return module.tensor(rng.standard_normal(sizes)).to(getattr(module, dtype))

    x, w, b = values(2, channels, 9, 11), values(channels, 1, 3, 3), values(channels) if biased else None
    want = module.nn.functional.conv2d(x, w, b, groups=channels, **options)
    x = x.contiguous(memory_format=module.channels_last)
    got = module.nn.functional.conv2d(x, w, b, groups=channels, **options)
    assert got.is_contiguous(memory_format=module.channels_last)
    module.testing.assert_close(got, want, check_stride=False)

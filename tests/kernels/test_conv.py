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

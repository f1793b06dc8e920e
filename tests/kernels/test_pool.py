"""Pools against windows that are cut out by hand."""

import itertools

import numpy as np
import pytest


def _windows(x, kernel, stride, padding, dilation):
    """(position, [index in the image]) for one image (H, W)."""
    spans = []
    for size, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation, strict=True):
        count = (size + 2 * p - d * (k - 1) - 1) // s + 1
        spans.append([[i for i in range(o * s - p, o * s - p + d * k, d) if 0 <= i < size][:k] for o in range(count)])
    rows, columns = spans
    return (len(rows), len(columns)), [
        [r * x.shape[1] + c for r, c in itertools.product(row, column)] for row in rows for column in columns
    ]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation"),
    [
        ((8, 9), (2, 2), (2, 2), (0, 0), (1, 1)),
        ((7, 40), (3, 3), (2, 1), (1, 1), (1, 1)),
        ((9, 9), (3, 2), (1, 3), (1, 1), (2, 1)),
        ((1, 33), (1, 4), (1, 2), (0, 2), (1, 1)),
    ],
)
@pytest.mark.parametrize("special", [None, np.nan, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_max_pool(module, size, kernel, stride, padding, dilation, special, dtype):
    x = np.random.default_rng(1).permutation(6 * size[0] * size[1]).reshape(2, 3, *size).astype(dtype)
    if special is not None and dtype != "int32":
        x[0] = np.where(x[0] % 3 == 0, special, x[0])
        x[1] = special
    got, indices = module.nn.functional.max_pool2d(
        module.tensor(x), kernel, stride, padding, dilation, return_indices=True
    )
    for image, values, places in zip(
        x.reshape(6, *size), got.reshape(6, -1).numpy(), indices.reshape(6, -1).numpy(), strict=True
    ):
        shape, windows = _windows(image, kernel, stride, padding, dilation)
        assert got.shape[2:] == shape
        for window, value, place in zip(windows, values, places, strict=True):
            candidates = image.reshape(-1)[window]
            missing = [w for w, c in zip(window, candidates, strict=True) if c != c]
            assert place == (missing[-1] if missing else window[int(np.argmax(candidates))])
            np.testing.assert_equal(value, image.reshape(-1)[place])


def test_adaptive_mean(module):
    x = np.random.default_rng(2).standard_normal((2, 3, 20, 50)).astype(np.float32)
    pool = module.nn.functional.adaptive_avg_pool2d
    np.testing.assert_allclose(pool(module.tensor(x), 1).numpy()[..., 0, 0], x.mean((2, 3)), atol=1e-6)
    want = x.reshape(2, 3, 4, 5, 2, 25).mean((3, 5))
    np.testing.assert_allclose(pool(module.tensor(x), (4, 2)).numpy(), want, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("last", [False, True])
def test_largest_halves(module, dtype, last):
    x = module.tensor(np.random.default_rng(0).standard_normal((2, 3, 9, 20))).to(getattr(module, dtype))
    if last:
        x = x.contiguous(memory_format=module.channels_last)
    got, places = module.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)
    want, at = module.nn.functional.max_pool2d(x.float(), 3, 2, 1, return_indices=True)
    assert got.dtype == x.dtype and module.equal(got.float(), want) and module.equal(places, at)
    assert got.stride() == want.stride()


POOLS = {
    "max": lambda F, x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "max, dilated": lambda F, x: F.max_pool2d(x, 2, 1, 1, dilation=3, ceil_mode=True, return_indices=True),
    "adaptive max": lambda F, x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
    "avg": lambda F, x: F.avg_pool2d(x, 3, 2, 1),
    "avg, without padding": lambda F, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg, divisor": lambda F, x: F.avg_pool2d(x, 2, divisor_override=3),
    "adaptive avg": lambda F, x: F.adaptive_avg_pool2d(x, (3, 2)),
    "all": lambda F, x: F.adaptive_avg_pool2d(x, 1),
    "max of volumes": lambda F, x: F.max_pool3d(x.unflatten(2, (3, 3)), 2, return_indices=True),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("channels", [2, 5, 16, 75])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("special", [None, np.nan, -np.inf])
def test_channels_last(module, name, channels, dtype, special):
    """As of images of whole channels."""
    values = np.random.default_rng(3).standard_normal((2, channels, 9, 12))
    if special is not None:
        values[0, :, ::3], values[1] = special, special
    results = []
    for memory_format in (module.contiguous_format, module.channels_last):
        x = module.tensor(values).to(getattr(module, dtype)).contiguous(memory_format=memory_format).requires_grad_()
        y = POOLS[name](module.nn.functional, x)
        y, *places = y if isinstance(y, tuple) else (y,)
        g = (module.arange(y.numel()).reshape(y.shape) % 5).to(y)
        results.append((y, *places, *module.autograd.grad(y, x, g)))
    module.testing.assert_close(*results, equal_nan=True, check_stride=False)


def test_gradients_of_pools_are_channels_last(module):
    for pool in (lambda F, x: F.max_pool2d(x, 2), lambda F, x: F.avg_pool2d(x, 2)):
        x = module.randn(2, 4, 6, 8).contiguous(memory_format=module.channels_last).requires_grad_()
        y = pool(module.nn.functional, x)
        y.backward(module.ones_like(y))
        assert x.grad.is_contiguous(memory_format=module.channels_last) and not x.grad.is_contiguous()


def test_windows_without_elements(module):
    x = module.full((1, 3, 1, 1), 7.0)
    for memory_format in (module.contiguous_format, module.channels_last):
        pooled = module.nn.functional.max_pool2d(x.to(memory_format=memory_format), 2, 1, 1, dilation=2)
        assert pooled.shape == (1, 3, 1, 1) and (pooled == -float("inf")).all()

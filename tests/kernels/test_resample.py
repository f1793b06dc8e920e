"""Interpolation along dims against NumPy, and its derivatives."""

import numpy as np
import pytest

import vivace
from vivace.autograd import gradcheck, gradgradcheck
from vivace.nn.functional import interpolate


def values(*shape, dtype=vivace.float64):
    return vivace.randn(*shape, dtype=dtype)


@pytest.mark.parametrize("out", [1, 2, 5, 9, 20])
def test_linear_with_aligned_corners_is_piecewise_linear(out):
    x = values(2, 3, 5)
    at = np.linspace(0, 4, out) if out > 1 else np.zeros(1)
    expected = np.stack([[np.interp(at, np.arange(5), line) for line in image] for image in x.numpy()])
    np.testing.assert_allclose(interpolate(x, out, mode="linear", align_corners=True).numpy(), expected, 1e-12, 1e-12)


@pytest.mark.parametrize("out", [1, 3, 4, 9])
def test_linear_between_centres(out):
    x = values(1, 2, 4)
    at = np.maximum((np.arange(out) + 0.5) * 4 / out - 0.5, 0)
    expected = np.stack([[np.interp(at, np.arange(4), line) for line in image] for image in x.numpy()])
    np.testing.assert_allclose(interpolate(x, out, mode="linear").numpy(), expected, 1e-12, 1e-12)


@pytest.mark.parametrize(("mode", "start"), [("nearest", 0.0), ("nearest-exact", 0.5)])
@pytest.mark.parametrize("dtype", [vivace.float32, vivace.float64, vivace.bfloat16, vivace.uint8])
def test_nearest(mode, start, dtype):
    x = (values(2, 3, 4, 6) * 50).abs().to(dtype)
    rows, columns = (((np.arange(n) + start) * m / n).astype(int) for n, m in ((7, 4), (3, 6)))
    got = interpolate(x, (7, 3), mode=mode)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.float().numpy(), x.float().numpy()[:, :, rows][:, :, :, columns])


def _cubic_of_a_line(at):
    """Keys' kernel with a = -3/4, written as in his paper (1981), over the line f(j) = j."""

    def weight(s):
        s, a = abs(s), -0.75
        if s < 1:
            return (a + 2) * s**3 - (a + 3) * s**2 + 1
        return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a if s < 2 else 0.0

    return [sum(weight(x - j) * j for j in range(-2, 15)) for x in at]


def test_cubic_mixes_by_keys_kernel():
    x = vivace.arange(12.0, dtype=vivace.float64).expand(1, 1, 12, 12)
    got = interpolate(x, (12, 24), mode="bicubic", align_corners=True)[0, 0, 0]
    at = np.linspace(0, 11, 24)
    inside = (at >= 1) & (at <= 10)  # where no tap is cut off at the edge
    np.testing.assert_allclose(got.numpy()[inside], _cubic_of_a_line(at[inside]), 1e-12)


@pytest.mark.parametrize(
    ("shape", "mode"), [((2, 2, 5), "linear"), ((1, 2, 3, 4), "bilinear"), ((1, 1, 4, 3), "bicubic"),
                   ((1, 1, 2, 3, 2), "trilinear"), ((2, 2, 5), "nearest"), ((1, 2, 3, 4), "nearest-exact")]
)  # fmt: skip
@pytest.mark.parametrize("factor", [1.7, 0.6])
def test_derivatives(shape, mode, factor):
    x = values(*shape).requires_grad_()

    def run(x):
        return interpolate(x, scale_factor=factor, mode=mode)

    assert gradcheck(run, (x,))
    assert gradgradcheck(run, (x,))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
@pytest.mark.parametrize("size", [(7, 13), (8, 10), (3, 2)])
@pytest.mark.parametrize("channels", [1, 3, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_channels_last(mode, size, channels, dtype):
    images = values(2, channels, 4, 5).to(getattr(vivace, dtype))
    results = []
    for memory_format in (vivace.contiguous_format, vivace.channels_last):
        x = images.clone(memory_format=memory_format)
        y = interpolate(x.requires_grad_(), size, mode=mode)
        assert y.is_contiguous(memory_format=memory_format)
        y.backward((vivace.arange(y.numel()).reshape(y.shape) % 5).to(y))
        results.append((y, x.grad))
    vivace.testing.assert_close(*results, check_stride=False)


def test_layout_and_meta():
    x = values(2, 3, 4, 5, dtype=vivace.float32).contiguous(memory_format=vivace.channels_last)
    assert interpolate(x, 7).is_contiguous(memory_format=vivace.channels_last)
    assert interpolate(x.to("meta"), (3, 9), mode="bilinear").shape == (2, 3, 3, 9)


def test_mixed_lines_of_bytes_are_refused():
    with pytest.raises(NotImplementedError, match="Byte"):
        interpolate(vivace.zeros(1, 1, 4, dtype=vivace.uint8), 3, mode="linear")


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [1, 2, 9, 33, 40])
def test_whole_multiples(module, dtype, times, width):
    x = np.arange(3 * 4 * width, dtype=np.float32).reshape(1, 3, 4, width) % 100
    t = module.tensor(x).to(getattr(module, dtype))
    got = module.nn.functional.interpolate(t, scale_factor=times, mode="nearest")
    np.testing.assert_array_equal(got.float().numpy(), x.repeat(times, 2).repeat(times, 3))

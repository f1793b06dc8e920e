"""Pooling: what returns indices if asked to, and sizes that may be left open."""

import math

import vivace

from . import native as _nn

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _nn.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def _sizes(output_size, input, spatial):
    """The output size with None meaning the input's."""
    if not isinstance(output_size, (list, tuple)):
        output_size = (output_size,) * spatial
    if None not in output_size:
        return output_size
    return [n if size is None else size for size, n in zip(output_size, input.shape[-spatial:], strict=True)]


def adaptive_avg_pool2d(input, output_size):
    return _nn.adaptive_avg_pool2d(input, _sizes(output_size, input, 2))


def adaptive_avg_pool3d(input, output_size):
    return _nn.adaptive_avg_pool3d(input, _sizes(output_size, input, 3))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    both = _nn.adaptive_max_pool1d_with_indices(input, _sizes(output_size, input, 1))
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    both = _nn.adaptive_max_pool2d_with_indices(input, _sizes(output_size, input, 2))
    return both if return_indices else both[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    both = _nn.adaptive_max_pool3d_with_indices(input, _sizes(output_size, input, 3))
    return both if return_indices else both[0]


def _lp_pool(mean_pool, input, norm_type, kernel_size, stride, ceil_mode, spatial):
    sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * spatial
    mean = mean_pool(input**norm_type, kernel_size, kernel_size if stride is None else stride, 0, ceil_mode)
    return (vivace.sign(mean) * mean.abs().relu()).mul(math.prod(sizes)).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_nn.avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_nn.avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_nn.avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode, 3)

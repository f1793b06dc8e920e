"""Pooling whose sizes are worked out in Python."""

import math

import vivace

from . import native as _nn

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]


def _pool_sizes(output_size, input, spatial):
    """The output size with None meaning the input's."""
    if not isinstance(output_size, (list, tuple)):
        output_size = (output_size,) * spatial
    return [n if size is None else size for size, n in zip(output_size, input.shape[-spatial:], strict=True)]


def adaptive_avg_pool1d(input, output_size):
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    return _nn.adaptive_avg_pool2d(input, _pool_sizes(output_size, input, 2))


def adaptive_avg_pool3d(input, output_size):
    return _nn.adaptive_avg_pool3d(input, _pool_sizes(output_size, input, 3))


def _values_and_maybe_indices(result, return_indices):
    return result if return_indices else result[0]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    values, indices = _nn.adaptive_max_pool2d(input.unsqueeze(-2), [1, size])
    return _values_and_maybe_indices((values.squeeze(-2), indices.squeeze(-2)), return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    return _values_and_maybe_indices(_nn.adaptive_max_pool2d(input, _pool_sizes(output_size, input, 2)), return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    return _values_and_maybe_indices(_nn.adaptive_max_pool3d(input, _pool_sizes(output_size, input, 3)), return_indices)


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

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
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of each window; with return_indices also where it was. Input (N, C, L) or (C, L)."""
    if return_indices:
        return _nn.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of each window; with return_indices also where it was. Input (N, C, H, W) or (C, H, W)."""
    if return_indices:
        return _nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of each window; with return_indices also where it was. Input (N, C, D, H, W) or less N."""
    if return_indices:
        return _nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return vivace.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def _sizes(output_size, input, spatial):
    """The output size with None meaning the input's."""
    if not isinstance(output_size, (list, tuple)):
        output_size = (output_size,) * spatial
    elif isinstance(input, vivace.Tensor) and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if None not in output_size:
        return output_size
    return [n if size is None else size for size, n in zip(output_size, input.shape[-spatial:], strict=True)]


def adaptive_avg_pool2d(input, output_size):
    """Means of windows chosen for a result of output_size: an int or a pair, None keeps the size."""
    return _nn.adaptive_avg_pool2d(input, _sizes(output_size, input, 2))


def adaptive_avg_pool3d(input, output_size):
    """Means of windows chosen for a result of output_size: an int or a triple, None keeps the size."""
    return _nn.adaptive_avg_pool3d(input, _sizes(output_size, input, 3))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest elements of output_size windows that cover the input (N, C, L) or (C, L)."""
    both = _nn.adaptive_max_pool1d_with_indices(input, _sizes(output_size, input, 1))
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """max_pool2d with windows chosen for a result of output_size: an int or a pair, None keeps the size."""
    both = _nn.adaptive_max_pool2d_with_indices(input, _sizes(output_size, input, 2))
    return both if return_indices else both[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """max_pool3d with windows chosen for a result of output_size: an int or a triple, None keeps the size."""
    both = _nn.adaptive_max_pool3d_with_indices(input, _sizes(output_size, input, 3))
    return both if return_indices else both[0]


def _lp_pool(mean_pool, input, norm_type, kernel_size, stride, ceil_mode, spatial):
    sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * spatial
    mean = mean_pool(input**norm_type, kernel_size, kernel_size if stride is None else stride, 0, ceil_mode)
    return (vivace.sign(mean) * mean.abs().relu()).mul(math.prod(sizes)).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type)**(1 / norm_type) of each window of (N, C, L)."""
    return _lp_pool(_nn.avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type)**(1 / norm_type) of each window of (N, C, H, W)."""
    return _lp_pool(_nn.avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type)**(1 / norm_type) of each window of (N, C, D, H, W)."""
    return _lp_pool(_nn.avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode, 3)


def _unpool(input, indices, kernel_size, stride, padding, output_size, dims):
    kernel_size, padding = _per_dim(kernel_size, dims), _per_dim(padding, dims)
    stride = kernel_size if stride is None else _per_dim(stride, dims)
    name = f"max_unpooling{dims}d_forward_out"
    if input.dim() not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to {name} should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with {input.dim()} "
            "dimensions."
        )
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    if 0 in input.shape[input.dim() - dims - 1 :]:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions")
    spatial = [
        (n - 1) * step + k - 2 * pad
        for n, step, k, pad in zip(input.shape[-dims:], stride, kernel_size, padding, strict=True)
    ]
    if output_size is not None:
        output_size = list(output_size)
        if len(output_size) == dims + 2:
            output_size = output_size[2:]
        if len(output_size) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(output_size)}'"
            )
        for d, (size, default, step) in enumerate(zip(output_size, spatial, stride, strict=True)):
            if not default - step < size < default + step:
                raise ValueError(
                    f'invalid output_size "{output_size}" (dim {d} must be between {default - step} and '
                    f"{default + step})"
                )
        spatial = output_size
    whole = (input, indices) if input.dim() == dims + 2 else (input.unsqueeze(0), indices.unsqueeze(0))
    result = _nn._max_unpool(*whole, [*whole[0].shape[:2], *spatial])
    return result if input.dim() == dims + 2 else result.squeeze(0)


def _per_dim(value, dims):
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * dims if len(value) == 1 else value


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the results of max_pool1d back where they were, by its indices; 0 elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the results of max_pool2d back where they were, by its indices; 0 elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the results of max_pool3d back where they were, by its indices; 0 elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def _fractional(name, input, kernel_size, output_size, output_ratio, samples, dims):
    if input.dim() not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = _per_dim(output_ratio, dims)
        if len(ratios) != dims:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(n * ratio) for n, ratio in zip(input.shape[-dims:], ratios, strict=True)]
    for what, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(_per_dim(value, dims)) != dims:
            raise RuntimeError(f"{name}: {what} must either be a single Int or tuple of {dims} Ints")
    whole = input if input.dim() == dims + 2 else input.unsqueeze(0)
    if samples is None:
        samples = vivace.rand(whole.size(0), whole.size(1), dims, dtype=input.dtype, device=input.device)
    both = _nn._fractional_max_pool(whole, _per_dim(kernel_size, dims), _per_dim(output_size, dims), samples)
    return both if input.dim() == dims + 2 else tuple(x.squeeze(0) for x in both)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """fractional_max_pool2d, and where the elements were."""
    return _fractional("fractional_max_pool2d", input, kernel_size, output_size, output_ratio, _random_samples, 2)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """fractional_max_pool3d, and where the elements were."""
    return _fractional("fractional_max_pool3d", input, kernel_size, output_size, output_ratio, _random_samples, 3)


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """Largest elements of windows whose places are drawn at random (Graham, 2014)."""
    both = _fractional("fractional_max_pool2d", input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return both if return_indices else both[0]


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """Largest elements of windows whose places are drawn at random, along three dims."""
    both = _fractional("fractional_max_pool3d", input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return both if return_indices else both[0]

"""Windows of images as columns and back, and bags of embeddings."""

import vivace

from . import native as _nn

__all__ = ["embedding_bag", "fold", "unfold"]


def _pair(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x, x)


def _places(size, kernel, dilation, padding, stride):
    """For one dimension: the padded positions that each kernel element visits, (kernel, windows)."""
    windows = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if windows <= 0:
        raise RuntimeError(
            f"unfold: no window fits: size {size}, kernel {kernel}, dilation {dilation}, padding {padding}, "
            f"stride {stride}"
        )
    return vivace.arange(kernel).unsqueeze(1) * dilation + vivace.arange(windows) * stride


def _grid(height, width, kernel_size, dilation, padding, stride):
    """Rows and columns that broadcast to (kernel height, kernel width, windows down, windows across)."""
    geometry = (_pair(x) for x in (kernel_size, dilation, padding, stride))
    rows, columns = (_places(n, *one) for n, one in zip((height, width), zip(*geometry, strict=True), strict=True))
    return rows[:, None, :, None], columns[None, :, None, :]


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images (N, C, H, W) as columns (N, C * prod(kernel_size), L)."""
    if input.dim() not in (3, 4):
        raise RuntimeError(f"unfold expects a 3D or 4D input, but got {input.dim()}D")
    images = input if input.dim() == 4 else input.unsqueeze(0)
    down, across = _pair(padding)
    rows, columns = _grid(*images.shape[2:], kernel_size, dilation, padding, stride)
    padded = _nn.pad(images, (across, across, down, down)) if down or across else images
    windows = padded[:, :, rows, columns]
    batch, channels = images.shape[:2]
    kernel = windows.size(2) * windows.size(3)
    result = windows.reshape(batch, channels * kernel, windows.size(4) * windows.size(5))
    return result if input.dim() == 4 else result.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Adds columns (N, C * prod(kernel_size), L) back into images of output_size: the adjoint of unfold."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"fold expects a 2D or 3D input, but got {input.dim()}D")
    columns_in = input if input.dim() == 3 else input.unsqueeze(0)
    height, width = _pair(output_size)
    down, across = _pair(padding)
    rows, columns = _grid(height, width, kernel_size, dilation, padding, stride)
    shape = (rows.size(0), columns.size(1), rows.size(2), columns.size(3))
    kernel, windows = shape[0] * shape[1], shape[2] * shape[3]
    if columns_in.size(1) % kernel or columns_in.size(2) != windows:
        raise RuntimeError(
            f"fold: expected {windows} columns of a multiple of {kernel} elements, but got input of shape {input.shape}"
        )
    batch, channels = columns_in.size(0), columns_in.size(1) // kernel
    full_height, full_width = height + 2 * down, width + 2 * across
    places = (rows * full_width + columns).reshape(-1)
    flat = columns_in.reshape(batch, channels, -1)
    image = flat.new_zeros((batch, channels, full_height * full_width)).index_add(2, places, flat)
    image = image.view(batch, channels, full_height, full_width)[:, :, down : down + height, across : across + width]
    return image if input.dim() == 3 else image.squeeze(0)


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sums, means or largest of rows of the weight, for bags of indices: rows of a 2-D input, or from offsets on."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                f"(got mode='{mode}'). Please open a feature request on GitHub."
            )
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
                f"same shape as the input ({input.shape})"
            )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                "sequences. However, found offsets of type " + vivace.typename(offsets)
            )
        count, length = input.shape
        bag = vivace.arange(count).repeat_interleave(length)
        input = input.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets[:-1] if include_last_offset else offsets
        count = starts.size(0)
        bag = vivace.searchsorted(starts.contiguous(), vivace.arange(input.size(0), dtype=starts.dtype), right=True) - 1
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    rows = _nn.embedding(input, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    if padding_idx is not None:
        kept = input != (padding_idx + weight.size(0) if padding_idx < 0 else padding_idx)
        rows, bag = rows[kept], bag[kept]
        per_sample_weights = None if per_sample_weights is None else per_sample_weights[kept]
    zeros = rows.new_zeros((count, rows.size(1)))
    if mode == "max":
        return zeros.scatter_reduce(0, bag.unsqueeze(1).expand_as(rows), rows, "amax", include_self=False)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    total = zeros.index_add(0, bag, rows)
    if mode == "sum":
        return total
    return total / bag.bincount(minlength=count).clamp(min=1).unsqueeze(1).to(total.dtype)

"""Layers that move pixels between channels and space."""

import vivace

__all__ = [
    "channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]


def _in_format_of(input, result):
    """The result, row-major or channels last as the input is."""
    format = {4: vivace.channels_last, 5: vivace.channels_last_3d}.get(input.dim())
    if format is None or input.is_contiguous() or not input.is_contiguous(memory_format=format):
        return result.contiguous()
    return result.contiguous(memory_format=format)


def pixel_shuffle(input, upscale_factor):
    """(N, C r**2, H, W) to (N, C, H r, W r)."""
    r = upscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(batch)
    split = input.reshape(*batch, channels // (r * r), r, r, height, width)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return _in_format_of(input, split.permute(order).reshape(*batch, channels // (r * r), height * r, width * r))


def pixel_unshuffle(input, downscale_factor):
    """(N, C, H r, W r) to (N, C r**2, H, W)."""
    r = downscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} "
            "dimension(s)"
        )
    *batch, channels, height, width = input.shape
    for name, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, "
                f"but input.size({dim})={size} is not divisible by {r}"
            )
    n = len(batch)
    split = input.reshape(*batch, channels, height // r, r, width // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return _in_format_of(input, split.permute(order).reshape(*batch, channels * r * r, height // r, width // r))


def channel_shuffle(input, groups):
    """Exchanges channels between groups: (N, g c, ...) as (N, g, c, ...), transposed and back."""
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    channels = input.size(1)
    if groups <= 0 or channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    split = input.reshape(input.size(0), groups, channels // groups, *input.shape[2:])
    return _in_format_of(input, split.transpose(1, 2).reshape(input.shape))

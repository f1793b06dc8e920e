"""Moving pixels and resizing: the arguments are worked out here, the pixels natively."""

import math

import vivace

from . import native as _nn

__all__ = [
    "channel_shuffle",
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

# ---- pixels


def pixel_shuffle(input, upscale_factor):
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
    return split.permute(order).reshape(*batch, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input, downscale_factor):
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
    return split.permute(order).reshape(*batch, channels * r * r, height // r, width // r)


def channel_shuffle(input, groups):
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    channels = input.size(1)
    if groups <= 0 or channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    split = input.reshape(input.size(0), groups, channels // groups, *input.shape[2:])
    return split.transpose(1, 2).reshape(input.shape)


# ---- resizing

_INTERPOLATIONS = {
    ("nearest", 1): "upsample_nearest1d",
    ("nearest", 2): "upsample_nearest2d",
    ("nearest", 3): "upsample_nearest3d",
    ("nearest-exact", 1): "_upsample_nearest_exact1d",
    ("nearest-exact", 2): "_upsample_nearest_exact2d",
    ("nearest-exact", 3): "_upsample_nearest_exact3d",
    ("linear", 1): "upsample_linear1d",
    ("bilinear", 2): "upsample_bilinear2d",
    ("bicubic", 2): "upsample_bicubic2d",
    ("trilinear", 3): "upsample_trilinear3d",
}


def _per_dim(name, value, spatial, input):
    if not isinstance(value, (list, tuple)):
        return [value] * spatial
    if len(value) != spatial:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
            "dimensions of "
            f"{list(input.shape[2:])} and {name} of {value}. Please provide input tensor in (N, C, d1, d2, "
            "...,dK) format "
            f"and {name} in (s1, s2, ...,sK) format."
        )
    return list(value)


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
    antialias=False,
):  # fmt: skip
    spatial = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    else:
        align_corners = bool(align_corners)
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    sizes = scales = None
    if size is not None:
        sizes = _per_dim("output size", size, spatial, input)
    else:
        scales = _per_dim("scale_factor", scale_factor, spatial, input)
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = [math.floor(float(n) * s) for n, s in zip(input.shape[2:], scales, strict=True)]
        scales = None
    if mode == "area":
        if sizes is None:
            sizes = [math.floor(float(n) * s) for n, s in zip(input.shape[2:], scales, strict=True)]
        return getattr(vivace.nn.functional, f"adaptive_avg_pool{spatial}d")(input, sizes)
    function = _INTERPOLATIONS.get((mode, spatial))
    if function is None:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | "
            f"nearest-exact (got {mode})"
        )
    if antialias:
        if mode not in ("bilinear", "bicubic"):
            raise ValueError(
                "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
            )
        function = f"_{function}_aa"
    native = getattr(_nn, function)
    return native(input, sizes, scales) if align_corners is None else native(input, sizes, align_corners, scales)


def _old_upsample(name):
    import warnings

    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    _old_upsample("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    _old_upsample("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    _old_upsample("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)

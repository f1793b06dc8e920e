"""Interpolation. Each spatial dimension is resized on its own, by a native operator or, antialiased, by a matrix."""

import math

import vivace

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_ALONG = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
_DIMS_OF = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def _per_dim(name, value, spatial, input):
    if not isinstance(value, (list, tuple)):
        return [value] * spatial
    if len(value) != spatial:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(input.shape[2:])} and {name} of {value}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            f"format and {name} in (s1, s2, ...,sK) format."
        )
    return list(value)


def _steps(count, like, start=0.0):
    """start, start + 1, ... in the type that positions are computed in."""
    dtype = vivace.float64 if like.dtype == vivace.float64 else vivace.float32
    return vivace.arange(count, dtype=dtype, device=like.device) + start


def _cubic_weight(x, a):
    """The cubic convolution kernel at distance x >= 0."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return vivace.where(x <= 1, near, vivace.where(x < 2, far, 0.0))


def _antialiased(input, dim, size, scale, mode):
    """A filter that widens with the scale, so that shrinking averages; as one matrix of weights."""
    count = input.size(dim)
    width = max(scale, 1.0)
    reach = (1 if mode == "bilinear" else 2) * width
    center = _steps(size, input, 0.5).unsqueeze(1) * scale
    j = _steps(count, input)
    inside = (j >= (center - reach + 0.5).trunc().clamp(min=0)) & (j < (center + reach + 0.5).trunc().clamp(max=count))
    distance = ((j - center + 0.5) / width).abs()
    weight = (1 - distance).clamp(min=0) if mode == "bilinear" else _cubic_weight(distance, -0.5)
    weight = vivace.where(inside, weight, 0.0)
    weight = weight / weight.sum(1, keepdim=True)
    return (input.movedim(dim, -1) @ weight.to(input.dtype).t()).movedim(-1, dim)


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
    antialias=False,
):  # fmt: skip
    """Resizes the last dims of (N, C, ...) to `size` or by `scale_factor`: nearest, linear, bilinear, bicubic, area."""
    spatial = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if spatial not in (1, 2, 3) or _DIMS_OF.get(mode, spatial) != spatial:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | "
            f"linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    scales = [None] * spatial
    if size is not None:
        sizes = _per_dim("output size", size, spatial, input)
    else:
        factors = _per_dim("scale_factor", scale_factor, spatial, input)
        sizes = [math.floor(float(n) * factor) for n, factor in zip(input.shape[2:], factors, strict=True)]
        if not recompute_scale_factor:
            scales = [1.0 / factor for factor in factors]
    if min(*sizes, *input.shape[1:]) <= 0:
        raise RuntimeError(
            f"interpolate: input and output sizes should be greater than 0, but got input {list(input.shape)} and "
            f"output {sizes}"
        )
    if mode == "area":
        return getattr(vivace.nn.functional, f"adaptive_avg_pool{spatial}d")(input, sizes)
    pixels = input.dtype == vivace.uint8  # computed in float, rounded after every dimension
    if pixels and mode in ("linear", "trilinear"):
        raise NotImplementedError("\"compute_indices_weights_linear\" not implemented for 'Byte'")
    result = input.float() if pixels else input
    for dim in range(input.dim() - 1, 1, -1):
        count, wanted, scale = input.size(dim), sizes[dim - 2], scales[dim - 2]
        if align_corners:
            scale = (count - 1) / (wanted - 1) if wanted > 1 else 0.0
        elif scale is None:
            scale = count / wanted
        if antialias:
            result = _antialiased(result, dim, wanted, scale, mode)
        else:
            result = vivace._resample(result, dim, wanted, _ALONG.get(mode, mode), scale, bool(align_corners))
        if pixels:
            result = (result + 0.5).floor().clamp(0, 255)
    if antialias and not input.is_contiguous():
        for channels_last in (vivace.channels_last, vivace.channels_last_3d):
            if input.is_contiguous(memory_format=channels_last):
                result = result.contiguous(memory_format=channels_last)
    return result.to(input.dtype)


def _old_name(name):
    import warnings

    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of interpolate."""
    _old_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode 'nearest'."""
    _old_name("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode 'bilinear' and align_corners=True."""
    _old_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)

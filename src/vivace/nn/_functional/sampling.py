"""Images read at points: grid_sample and the grids of affine maps."""

import warnings

import vivace

__all__ = ["affine_grid", "grid_sample"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _align(align_corners):
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
            "details.",
            stacklevel=3,
        )
    return bool(align_corners)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Values of the input at the places of a grid (N, H, W, 2), where -1 and 1 are the image's borders."""
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    return vivace.grid_sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), _align(align_corners))


def _centers(n, theta, align_corners):
    """n points from -1 to 1: the ends themselves, or the centres of n equal parts."""
    if n == 1:
        return theta.new_zeros(1)
    line = vivace.linspace(-1, 1, n, dtype=theta.dtype, device=theta.device)
    return line if align_corners else line * ((n - 1) / n)


def affine_grid(theta, size, align_corners=None):
    """Grids for grid_sample of sizes (N, C, H, W) or (N, C, D, H, W), from matrices theta (N, 2, 3) or (N, 3, 4)."""
    align_corners = _align(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. "
            f"Got {theta.shape}."
        )
    spatial = tuple(size[-dims:])
    if align_corners and min(spatial) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    lines = vivace.meshgrid(*[_centers(n, theta, align_corners) for n in spatial], indexing="ij")
    points = vivace.stack([*reversed(lines), vivace.ones_like(lines[0])], -1).reshape(1, -1, dims + 1)
    grid = points.expand(size[0], -1, -1) @ theta.mT
    return grid.reshape(size[0], *spatial, dims)

"""Images read at points, against SciPy's interpolation and against finite differences; affine grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import vivace as torch

F = torch.nn.functional
RNG = np.random.RandomState(0)
# SciPy's names of what stands outside: mirrored at centres (align) and at edges, held at the border.
OUTSIDE = {("reflection", True): "mirror", ("reflection", False): "reflect", ("border", True): "nearest"}


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("dims", [2, 3])
def test_values(mode: str, padding: str, align: bool, dims: int) -> None:
    sizes = (5, 4, 6)[-dims:]
    image, grid = RNG.randn(2, 3, *sizes), RNG.uniform(-1.6, 1.6, (2, *(3, 2, 4)[-dims:], dims))
    got = F.grid_sample(torch.from_numpy(image), torch.from_numpy(grid), mode, padding, align).numpy()
    places = [
        (grid[..., dims - 1 - d] + 1) / 2 * (n - 1) if align else ((grid[..., dims - 1 - d] + 1) * n - 1) / 2
        for d, n in enumerate(sizes)
    ]
    order, outside = (1 if mode == "bilinear" else 0), OUTSIDE.get((padding, align), "nearest")
    margin = 9
    for n in range(2):
        for c in range(3):
            if padding == "zeros":  # the image with zeros around it, since SciPy does not mix border and outside
                wide, at = np.pad(image[n, c], margin), [p[n] + margin for p in places]
            else:
                wide, at = image[n, c], [p[n] for p in places]
            want = ndimage.map_coordinates(wide, at, order=order, mode=outside, prefilter=False)
            np.testing.assert_allclose(got[n, c], want, atol=1e-12)


def test_bicubic_is_exact_for_quadratics_inside() -> None:
    y, x = np.mgrid[0:8, 0:9].astype(float)
    image = 0.3 * x + 0.7 * y - 2  # convolution with a = -0.75 keeps linear functions
    points = RNG.uniform(-0.5, 0.5, (1, 3, 4, 2))
    got = F.grid_sample(torch.from_numpy(image[None, None]), torch.from_numpy(points), "bicubic", "zeros", True)
    want = 0.3 * (points[..., 0] + 1) * 4 + 0.7 * (points[..., 1] + 1) * 3.5 - 2
    assert np.abs(got.numpy()[:, 0] - want).max() < 0.1
    corners = torch.tensor([[[[-1.0, -1.0], [1.0, 1.0]]]], dtype=torch.float64)
    exact = F.grid_sample(torch.from_numpy(image[None, None]), corners, "bicubic", "border", True)
    np.testing.assert_allclose(exact.flatten().numpy(), [image[0, 0], image[-1, -1]])


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_gradients(mode: str, padding: str, align: bool) -> None:
    image = torch.from_numpy(RNG.randn(2, 2, 4, 5)).requires_grad_()
    grid = torch.from_numpy(RNG.uniform(-1.4, 1.4, (2, 3, 2, 2))).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, g: F.grid_sample(x, g, mode, padding, align), (image, grid))
    if mode != "bicubic":
        volume = torch.from_numpy(RNG.randn(1, 2, 3, 4, 5)).requires_grad_()
        points = torch.from_numpy(RNG.uniform(-1.4, 1.4, (1, 2, 2, 2, 3))).requires_grad_()
        assert torch.autograd.gradcheck(lambda x, g: F.grid_sample(x, g, mode, padding, align), (volume, points))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_many_points_are_as_each_alone(mode: str, dtype: torch.dtype) -> None:
    image = torch.from_numpy(RNG.randn(2, 3, 4, 5)).to(dtype).requires_grad_()
    grid = torch.from_numpy(RNG.uniform(-1.6, 1.6, (2, 1, 150, 2))).to(dtype).requires_grad_()
    weights = torch.from_numpy(RNG.randn(2, 3, 1, 150)).to(dtype)
    whole = F.grid_sample(image, grid, mode, "zeros", False)
    alone = torch.cat([F.grid_sample(image, p, mode, "zeros", False) for p in grid.split(1, 2)], 3)
    torch.testing.assert_close(whole, alone)
    grads = [torch.autograd.grad((y * weights).sum(), (image, grid)) for y in (whole, alone)]
    for got, want in zip(*grads, strict=True):
        torch.testing.assert_close(got, want)


def test_nan_and_far_points_give_nothing() -> None:
    image = torch.ones(1, 1, 3, 3)
    grid = torch.tensor([[[[float("nan"), 0.0], [1e30, 0.0], [-float("inf"), 0.0]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        assert F.grid_sample(image, grid, mode, "zeros", False).flatten().tolist() == [0, 0, 0]


def test_errors() -> None:
    image, grid = torch.rand(1, 1, 3, 3), torch.rand(1, 2, 2, 2)
    for text, call in [
        ("same batch size", lambda: F.grid_sample(image, torch.rand(2, 2, 2, 2), align_corners=False)),
        ("to have size 2 in last dimension", lambda: F.grid_sample(image, torch.rand(1, 2, 2, 3), align_corners=False)),
        ("same dtype", lambda: F.grid_sample(image, grid.double(), align_corners=False)),
        ("non-empty spatial dimensions", lambda: F.grid_sample(image[:, :, :0], grid, align_corners=False)),
        (
            "bicubic interpolation only supports 4D input",
            lambda: F.grid_sample(torch.rand(1, 1, 2, 2, 2), torch.rand(1, 1, 1, 1, 3), "bicubic", align_corners=False),
        ),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(ValueError, match="expected mode to be 'bilinear', 'nearest' or 'bicubic'"):
        F.grid_sample(image, grid, "cubic", align_corners=False)
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        F.grid_sample(image, grid)
    x = image.clone().requires_grad_()
    (g,) = torch.autograd.grad(F.grid_sample(x, grid, align_corners=False).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="grid_sampler_backward"):
        g.sum().backward()


@pytest.mark.parametrize("align", [True, False])
def test_affine_grid(align: bool) -> None:
    image = torch.from_numpy(RNG.randn(2, 3, 4, 5))
    identity = torch.eye(2, 3, dtype=torch.float64).expand(2, 2, 3)
    grid = F.affine_grid(identity, image.shape, align)
    assert grid.shape == (2, 4, 5, 2)
    torch.testing.assert_close(F.grid_sample(image, grid, align_corners=align), image)
    turned = F.affine_grid(-identity, image.shape, align)
    torch.testing.assert_close(F.grid_sample(image, turned, align_corners=align), image.flip(-1, -2))
    volume = torch.from_numpy(RNG.randn(1, 1, 2, 3, 4))
    grid = F.affine_grid(torch.eye(3, 4, dtype=torch.float64)[None], volume.shape, align)
    torch.testing.assert_close(F.grid_sample(volume, grid, align_corners=align), volume)
    with pytest.raises(ValueError, match="Expected a batch of 2D affine matrices"):
        F.affine_grid(torch.rand(1, 3, 4), (1, 1, 2, 2), align)

"""Sampling of images at points, the inverse of max pooling, and pools over random windows."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_GRID = "int interpolation_mode, int padding_mode, bool align_corners"
grid_sampler = op(
    f"grid_sampler(Tensor input, Tensor grid, {_GRID}) -> Tensor",
    kernel="grid_sampler",
    autocast="float32",
    variants="function",
    grad=lambda g, input, grid, interpolation_mode, padding_mode, align_corners, needs: cpp.grid_sampler_backward(
        g, input, grid, interpolation_mode, padding_mode, align_corners, needs
    ),
    samples=lambda s: (
        [
            s(s.t(2, 2, 4, 5), s.t(2, 3, 2, 2, low=-1.3, high=1.3), mode, padding, align)
            for mode in (0, 1, 2)
            for padding in (0, 1, 2)
            for align in (False, True)
        ]
        + [
            s(s.t(2, 2, 3, 4, 5), s.t(2, 2, 3, 2, 3, low=-1.3, high=1.3), mode, padding, False)
            for mode in (0, 1)
            for padding in (0, 1, 2)
        ]
    ),
    doc="Values of images or volumes at points of [-1, 1]: bilinear, nearest or bicubic (0 to 2), with zeros, the "
    "border or reflections (0 to 2) outside.",
)
grid_sampler_backward = op(
    f"grid_sampler_backward(Tensor grads, Tensor input, Tensor grid, {_GRID}) -> (Tensor, Tensor)",
    kernel="grid_sampler_backward",
    namespace="private",
    grad=lambda g0, g1: (
        cpp.no_derivative(g0, "grid_sampler_backward"),
        cpp.no_derivative(g0, "grid_sampler_backward"),
        cpp.no_derivative(g0, "grid_sampler_backward"),
    ),
    doc="The gradients of grid_sampler().",
)
for _dims, _shapes in ((2, ((1, 2, 4, 5), (1, 3, 2, 2))), (3, ((1, 2, 3, 4, 5), (1, 2, 3, 2, 3)))):
    composite(
        f"grid_sampler_{_dims}d(Tensor input, Tensor grid, {_GRID}) -> Tensor",
        body=lambda input, grid, interpolation_mode, padding_mode, align_corners: input.grid_sampler(
            grid, interpolation_mode, padding_mode, align_corners
        ),
        variants="function",
        samples=lambda s, shapes=_shapes: [s(s.t(*shapes[0]), s.t(*shapes[1], low=-1.3, high=1.3), 0, 0, False)],
        doc=grid_sampler.doc,
    )

max_unpool = op(
    "_max_unpool(Tensor input, Tensor indices, int[] output_size) -> Tensor",
    kernel="max_unpool",
    namespace="nn.functional",
    autocast="float32",
    linear=("input",),
    grad=lambda g, indices: (cpp.max_pool_backward_backward(g, indices), None),
    doc="Zeros of output_size with the elements of each image at their indices.",
)
fractional_max_pool = op(
    "_fractional_max_pool(Tensor input, int[] kernel_size, int[] output_size, Tensor random_samples)"
    " -> (Tensor, Tensor)",
    kernel="fractional_max_pool",
    namespace="nn.functional",
    autocast="float32",
    nondiff=(1,),
    grad=lambda g0, y1, input_sizes: (g0.max_pool_backward(y1, input_sizes), None),
    doc="Largest element of each of output_size windows, whose places the random numbers choose, and its index.",
)

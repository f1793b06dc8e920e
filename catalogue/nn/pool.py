"""Pools: operators over (N, C, ...), and the functions with one to three spatial dims."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

max_pool = op(
    "max_pool(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
    "bool ceil_mode) -> (Tensor, Tensor)",
    kernel="max_pool",
    namespace="private",
    nondiff=(1,),
    grad=lambda g0, y1, input_sizes: g0.max_pool_backward(y1, input_sizes),
    nodes={"": "MaxPool2DWithIndicesBackward0"},
    doc="Largest element of each window, and its index in the image.",
)
adaptive_max_pool = op(
    "adaptive_max_pool(Tensor input, int[] output_size) -> (Tensor, Tensor)",
    kernel="adaptive_max_pool",
    namespace="private",
    nondiff=(1,),
    grad=lambda g0, y1, input_sizes: g0.max_pool_backward(y1, input_sizes),
    doc="Largest element of each of output_size windows, and its index in the image.",
)
max_pool_backward = op(
    "max_pool_backward(Tensor grads, Tensor indices, int[] input_sizes) -> Tensor",
    kernel="max_pool_backward",
    namespace="private",
    linear=("grads",),
    grad=lambda g, indices: (cpp.max_pool_backward_backward(g, indices), None),
    doc="Gradients added at their indices.",
)
WINDOWS = "int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, int? divisor"
avg_pool = op(
    f"avg_pool(Tensor input, {WINDOWS}) -> Tensor",
    kernel="avg_pool",
    namespace="private",
    linear=("input",),
    grad=lambda g, input_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor: (
        g.avg_pool_backward(input_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor)
    ),
    nodes={"": "AvgPool2DBackward0"},
    doc="Mean of each window.",
)
avg_pool_backward = op(
    f"avg_pool_backward(Tensor grads, int[] input_sizes, {WINDOWS}) -> Tensor",
    kernel="avg_pool_backward",
    namespace="private",
    linear=("grads",),
    grad=lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor: g.avg_pool(
        kernel_size, stride, padding, ceil_mode, count_include_pad, divisor
    ),
    doc="The adjoint of avg_pool.",
)
adaptive_avg_pool = op(
    "adaptive_avg_pool(Tensor input, int[] output_size) -> Tensor",
    kernel="adaptive_avg_pool",
    namespace="private",
    linear=("input",),
    grad=lambda g, input_sizes: g.adaptive_avg_pool_backward(input_sizes),
    doc="Mean of each of output_size windows.",
)
adaptive_avg_pool_backward = op(
    "adaptive_avg_pool_backward(Tensor grads, int[] input_sizes) -> Tensor",
    kernel="adaptive_avg_pool_backward",
    namespace="private",
    linear=("grads",),
    grad=lambda g, grads_sizes: cpp.adaptive_avg_pool_again(g, grads_sizes),
    doc="The adjoint of adaptive_avg_pool.",
)

max_pool1d = composite(
    "max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> Tensor",
    kernel="max_pool1d",
    samples=lambda s: [s(s.t(2, 3, 6), 2), s(s.t(3, 6), 3, 1, 1, ceil_mode=True), s(s.t(2, 3, 6), 2, 1, 0, 2)],
    doc="Largest element of each window over 1 spatial dim.",
)
max_pool1d_with_indices = composite(
    "max_pool1d_with_indices(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    kernel="max_pool1d_with_indices",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6), 2)],
    doc="max_pool1d, and the index of each element in its image.",
)
adaptive_avg_pool1d = composite(
    "adaptive_avg_pool1d(Tensor input, int[1] output_size) -> Tensor",
    kernel="adaptive_avg_pool1d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6), 2), s(s.t(3, 6), 1)],
    doc="Means of windows that divide 1 spatial dim evenly.",
)
adaptive_max_pool1d_with_indices = composite(
    "adaptive_max_pool1d_with_indices(Tensor input, int[1] output_size) -> (Tensor, Tensor)",
    kernel="adaptive_max_pool1d_with_indices",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6), 2)],
    doc="Largest elements of windows that divide 1 spatial dim evenly, and their indices.",
)
avg_pool1d = composite(
    "avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor",
    kernel="avg_pool1d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6), 2), s(s.t(3, 6), 3, 1, 1, True, False)],
    doc="Mean of each window over 1 spatial dim.",
)

max_pool2d = composite(
    "max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, "
    "bool ceil_mode=False) -> Tensor",
    kernel="max_pool2d",
    samples=lambda s: [s(s.t(2, 3, 6, 5), 2), s(s.t(3, 6, 5), 3, 1, 1, ceil_mode=True), s(s.t(2, 3, 6, 5), 2, 1, 0, 2)],
    doc="Largest element of each window over 2 spatial dims.",
)
max_pool2d_with_indices = composite(
    "max_pool2d_with_indices(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
    "int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    kernel="max_pool2d_with_indices",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(1, 2, 4, 5), 2)],
    doc="max_pool2d, and the index of each element in its image.",
)
adaptive_avg_pool2d = composite(
    "adaptive_avg_pool2d(Tensor input, int[2] output_size) -> Tensor",
    kernel="adaptive_avg_pool2d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6, 5), 2), s(s.t(3, 6, 5), 1)],
    doc="Means of windows that divide 2 spatial dims evenly.",
)
adaptive_max_pool2d_with_indices = composite(
    "adaptive_max_pool2d_with_indices(Tensor input, int[2] output_size) -> (Tensor, Tensor)",
    kernel="adaptive_max_pool2d_with_indices",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(1, 2, 4, 5), 2)],
    doc="Largest elements of windows that divide 2 spatial dims evenly, and their indices.",
)
avg_pool2d = composite(
    "avg_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    kernel="avg_pool2d",
    out=True,
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 6, 5), 2), s(s.t(3, 6, 5), 3, 1, 1, True, False)],
    doc="Mean of each window over 2 spatial dims.",
)

max_pool3d = composite(
    "max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, "
    "bool ceil_mode=False) -> Tensor",
    kernel="max_pool3d",
    autocast="float32",
    samples=lambda s: [
        s(s.t(2, 3, 6, 5, 4), 2),
        s(s.t(3, 6, 5, 4), 3, 1, 1, ceil_mode=True),
        s(s.t(2, 3, 6, 5, 4), 2, 1, 0, 2),
    ],
    doc="Largest element of each window over 3 spatial dims.",
)
max_pool3d_with_indices = composite(
    "max_pool3d_with_indices(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, "
    "int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    kernel="max_pool3d_with_indices",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(1, 2, 4, 3, 4), 2)],
    doc="max_pool3d, and the index of each element in its image.",
)
adaptive_avg_pool3d = composite(
    "adaptive_avg_pool3d(Tensor input, int[3] output_size) -> Tensor",
    kernel="adaptive_avg_pool3d",
    namespace="nn.functional",
    autocast="float32",
    samples=lambda s: [s(s.t(2, 3, 6, 5, 4), 2), s(s.t(3, 6, 5, 4), 1)],
    doc="Means of windows that divide 3 spatial dims evenly.",
)
adaptive_max_pool3d_with_indices = composite(
    "adaptive_max_pool3d_with_indices(Tensor input, int[3] output_size) -> (Tensor, Tensor)",
    kernel="adaptive_max_pool3d_with_indices",
    namespace="nn.functional",
    autocast="float32",
    samples=lambda s: [s(s.t(1, 2, 4, 3, 4), 2)],
    doc="Largest elements of windows that divide 3 spatial dims evenly, and their indices.",
)
avg_pool3d = composite(
    "avg_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    kernel="avg_pool3d",
    out=True,
    namespace="nn.functional",
    autocast="float32",
    samples=lambda s: [s(s.t(2, 3, 6, 5, 4), 2), s(s.t(3, 6, 5, 4), 3, 1, 1, True, False)],
    doc="Mean of each window over 3 spatial dims.",
)

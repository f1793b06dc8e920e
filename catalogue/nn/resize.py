"""Resizing along one dim: each result mixes a few elements of its line."""

from catalogue.dtypes import floating
from catalogue.kinds import op
from codegen.expr import ops

resample = op(
    "_resample(Tensor input, int dim, int size, str mode, float scale, bool align_corners) -> Tensor",
    kernel="resample",
    variants="function",
    dtypes=floating,
    linear=("input",),
    grad=lambda g, input_sizes, dim, size, mode, scale, align_corners: ops.resample_backward(
        g, input_sizes, dim, size, mode, scale, align_corners
    ),
    doc="Element i along `dim` is read at i * scale with align_corners, else at (i + 0.5) * scale - 0.5: a mix of its "
    "neighbours by linear or cubic weights. The modes nearest and nearest-exact read one element.",
)
resample_backward = op(
    "resample_backward(Tensor grads, int[] input_sizes, int dim, int size, str mode, float scale, bool align_corners) "
    "-> Tensor",
    kernel="resample_backward",
    namespace="private",
    dtypes=floating,
    linear=("grads",),
    grad=lambda g, dim, size, mode, scale, align_corners: ops._resample(g, dim, size, mode, scale, align_corners),
    doc="The adjoint of resample.",
)

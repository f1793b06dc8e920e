"""Padding."""

from catalogue.kinds import composite, op
from codegen.expr import cpp, ops

constant_pad_nd = op(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    kernel="constant_pad_nd",
    grad=lambda g, pad: cpp.constant_pad_nd_backward(g, pad),
    samples=lambda s: [s(s.t(2, 3), (1, 2)), s(s.t(2, 3), (1, -1, 0, 2), 5), s(s.t(3), (-1, -1))],
    doc="Adds elements of one value around the last dims; negative numbers take elements away.",
)
pad_edges = op(
    "pad_edges(Tensor input, int[] pad, str mode) -> Tensor",
    kernel="pad_edges",
    namespace="private",
    linear=("input",),
    grad=lambda g, input_sizes, pad, mode: g.pad_edges_backward(input_sizes, pad, mode),
    doc="Adds elements around the last dims that are copies of others: reflect, replicate, circular.",
)
pad_edges_backward = op(
    "pad_edges_backward(Tensor input, int[] input_sizes, int[] pad, str mode) -> Tensor",
    kernel="pad_edges_backward",
    namespace="private",
    linear=("input",),
    grad=lambda g, pad, mode: g.pad_edges(pad, mode),
    doc="The adjoint of pad_edges.",
)
pad_mirrored = composite(
    "pad_mirrored(Tensor input, int[] pad, str mode) -> Tensor",
    body=lambda input, pad, mode: ops.pad_edges(input, pad, mode),
    namespace="private",
    autocast="float32",
    doc="reflect and replicate, which autocast runs in float32; circular padding stays in the input's dtype.",
)
pad = composite(
    "pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor",
    kernel="pad",
    namespace="nn.functional",
    samples=lambda s: [
        s(s.t(2, 3), (1, 2)),
        s(s.t(2, 3), (1, 2), value=1.5),
        s(s.t(2, 3, 4), (2, 1), "reflect"),
        s(s.t(1, 2, 3, 4), (2, 1, 1, 0), "replicate"),
        s(s.t(2, 3, 4), (2, 1), "circular"),
    ],
    doc="Adds elements around the last dims.",
)

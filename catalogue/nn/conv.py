"""Convolutions: one bilinear operator and its two adjoints; the functions of nn.functional complete their arguments."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

GEOMETRY = "int[] stride, int[] padding, int[] dilation, int groups"

conv = op(
    f"conv(Tensor input, Tensor weight, Tensor? bias, {GEOMETRY}) -> Tensor",
    kernel="conv",
    namespace="private",
    linear=("input", "weight"),
    grad=lambda g, input, weight, stride, padding, dilation, groups, needs: cpp.conv_backward(
        g, input, weight, stride, padding, dilation, groups, needs
    ),
    nodes={"": "ConvolutionBackward0"},
    doc="Convolution of (N, C, ...) with one number per spatial dim.",
)
conv_input_grad = op(
    f"conv_input_grad(Tensor grads, Tensor weight, int[] input_sizes, {GEOMETRY}) -> Tensor",
    kernel="conv_input_grad",
    namespace="private",
    linear=("grads", "weight"),
    grad=lambda g, grads, weight, stride, padding, dilation, groups, needs: cpp.conv_input_grad_backward(
        g, grads, weight, stride, padding, dilation, groups, needs
    ),
    nodes={"": "ConvolutionBackward0"},
    doc="The adjoint of conv for a fixed weight: its gradient by the input, and the transposed convolution.",
)
conv_weight_grad = op(
    f"conv_weight_grad(Tensor grads, Tensor input, int[] weight_sizes, {GEOMETRY}) -> Tensor",
    kernel="conv_weight_grad",
    namespace="private",
    linear=("grads", "input"),
    grad=lambda g, grads, input, stride, padding, dilation, groups, needs: cpp.conv_weight_grad_backward(
        g, grads, input, stride, padding, dilation, groups, needs
    ),
    doc="The adjoint of conv for a fixed input: its gradient by the weight.",
)

conv1d = composite(
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv1d",
    aliases=("nn.functional.conv1d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5), s.t(4, 3, 3), s.t(4)),
        s(s.t(2, 4, 5), s.t(4, 2, 3), None, 2, 1, 1, 2),
        s(s.t(3, 5), s.t(4, 3, 3), dilation=2),
    ],
    doc="Convolution over 1 spatial dim.",
)
conv1d_padding = composite(
    "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', "
    "int[1] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv1d_padding",
    aliases=("nn.functional.conv1d",),
    autocast="lower",
    samples=lambda s: [s(s.t(2, 3, 5), s.t(4, 3, 3), s.t(4), padding="same")],
    doc=conv1d.doc,
)
conv_transpose1d = composite(
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, "
    "int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
    kernel="conv_transpose1d",
    aliases=("nn.functional.conv_transpose1d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5), s.t(3, 4, 3), s.t(4)),
        s(s.t(2, 4, 5), s.t(4, 2, 3), None, 2, 1, 1, 2),
    ],
    doc="Transposed convolution over 1 spatial dim.",
)

conv2d = composite(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv2d",
    aliases=("nn.functional.conv2d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5, 6), s.t(4, 3, 3, 2), s.t(4)),
        s(s.t(2, 4, 5, 6), s.t(4, 2, 3, 2), None, 2, 1, 1, 2),
        s(s.t(3, 5, 6), s.t(4, 3, 3, 2), dilation=2),
    ],
    doc="Convolution over 2 spatial dims.",
)
conv2d_padding = composite(
    "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', "
    "int[2] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv2d_padding",
    aliases=("nn.functional.conv2d",),
    autocast="lower",
    samples=lambda s: [s(s.t(2, 3, 5, 6), s.t(4, 3, 3, 2), s.t(4), padding="same")],
    doc=conv2d.doc,
)
conv_transpose2d = composite(
    "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
    "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
    kernel="conv_transpose2d",
    aliases=("nn.functional.conv_transpose2d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5, 6, low=0.1), s.t(3, 4, 3, 2, low=0.1), s.t(4, low=0.1)),
        s(s.t(2, 4, 5, 6), s.t(4, 2, 3, 2), None, 2, 1, 1, 2),
    ],
    doc="Transposed convolution over 2 spatial dims.",
)

conv3d = composite(
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv3d",
    aliases=("nn.functional.conv3d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5, 6, 4), s.t(4, 3, 3, 2, 2), s.t(4)),
        s(s.t(2, 4, 5, 6, 4), s.t(4, 2, 3, 2, 2), None, 2, 1, 1, 2),
        s(s.t(3, 5, 6, 4), s.t(4, 3, 3, 2, 2), dilation=2),
    ],
    doc="Convolution over 3 spatial dims.",
)
conv3d_padding = composite(
    "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', "
    "int[3] dilation=1, "
    "int groups=1) -> Tensor",
    kernel="conv3d_padding",
    aliases=("nn.functional.conv3d",),
    autocast="lower",
    samples=lambda s: [s(s.t(2, 3, 5, 6, 4), s.t(4, 3, 3, 2, 2), s.t(4), padding="same")],
    doc=conv3d.doc,
)
conv_transpose3d = composite(
    "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "
    "int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",
    kernel="conv_transpose3d",
    aliases=("nn.functional.conv_transpose3d",),
    autocast="lower",
    samples=lambda s: [
        s(s.t(2, 3, 5, 6, 4, low=0.1), s.t(3, 4, 3, 2, 2, low=0.1), s.t(4, low=0.1)),
        s(s.t(2, 4, 5, 6, 4), s.t(4, 2, 3, 2, 2), None, 2, 1, 1, 2),
    ],
    doc="Transposed convolution over 3 spatial dims.",
)

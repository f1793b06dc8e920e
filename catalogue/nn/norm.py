"""Normalisations: over the last dims, over groups of channels, over the batch."""

from catalogue.dtypes import floating
from catalogue.kinds import composite, op
from codegen.expr import cpp

layer_norm = op(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05) -> Tensor",
    kernel="layer_norm",
    namespace="nn.functional",
    dtypes=floating,
    grad=lambda g, input, normalized_shape, weight, eps, needs: cpp.layer_norm_backward(
        g, input, normalized_shape, weight, eps, needs
    ),
    fused_grad=lambda g, input, normalized_shape, weight, eps, needs: cpp.layer_norm_backward_fused(
        g, input, normalized_shape, weight, eps, needs
    ),
    nodes={"": "NativeLayerNormBackward0"},
    samples=lambda s: [
        s(s.t(3, 4), (4,)),
        s(s.t(3, 4), (4,), s.t(4), s.t(4)),
        s(s.t(2, 3, 4), (3, 4), s.t(3, 4), None, 1e-3),
        s(s.t(5, 37), (37,), s.t(37), s.t(37)),
        s(s.t(0, 4), (4,), s.t(4), s.t(4)),
    ],
    doc="Shifts and scales the last dims to mean 0 and variance 1.",
)
layer_norm_torch = composite(
    "layer_norm.torch(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enable=True) -> Tensor",
    kernel="layer_norm_torch",
    doc=layer_norm.doc,
)

batch_norm_train = op(
    "batch_norm_train(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "float momentum, float eps) -> Tensor",
    kernel="batch_norm_train",
    namespace="private",
    grad=lambda g, input, weight, eps, needs: cpp.batch_norm_train_backward(g, input, weight, eps, needs),
    fused_grad=lambda g, input, weight, eps, needs: cpp.batch_norm_train_backward_fused(g, input, weight, eps, needs),
    nodes={"": "NativeBatchNormBackward0"},
    doc="batch_norm by the batch's statistics, which move the running ones.",
)
batch_norm_eval = op(
    "batch_norm_eval(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, "
    "float eps) -> Tensor",
    kernel="batch_norm_eval",
    namespace="private",
    grad=lambda g, input, weight, running_mean, running_var, eps, needs: cpp.batch_norm_eval_backward(
        g, input, weight, running_mean, running_var, eps, needs
    ),
    fused_grad=lambda g, input, weight, running_mean, running_var, eps, needs: cpp.batch_norm_eval_backward_fused(
        g, input, weight, running_mean, running_var, eps, needs
    ),
    nodes={"": "NativeBatchNormBackward1"},
    doc="batch_norm by running statistics.",
)
batch_norm = composite(
    "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, "
    "bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
    kernel="batch_norm",
    namespace="nn.functional",
    samples=lambda s: [
        s(s.t(3, 4), None, None, s.t(4), s.t(4), True),
        s(s.t(2, 3, 5), None, None, None, None, True),
        s(
            s.t(2, 3, 4, 4),
            s.t(3, requires_grad=False),
            s.t(3, low=0.5, high=2.0, requires_grad=False),
            s.t(3),
            s.t(3),
        ),
    ],
    doc="Shifts and scales each channel to mean 0 and variance 1.",
)
batch_norm_torch = composite(
    "batch_norm.torch(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    kernel="batch_norm_torch",
    doc=batch_norm.doc,
)

native_batch_norm = composite(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    kernel="native_batch_norm",
    samples=lambda s: [
        s(s.t(3, 4), s.t(4), s.t(4), None, None, True, 0.1, 1e-5),
        s(
            s.t(2, 3, 5),
            None,
            None,
            s.t(3, requires_grad=False),
            s.t(3, low=0.5, high=2.0, requires_grad=False),
            False,
            0.1,
            1e-5,
        ),
    ],
    doc="batch_norm, and the mean and the inverse deviation of each channel if training.",
)

group_norm = op(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    kernel="group_norm",
    namespace="nn.functional",
    dtypes=floating,
    grad=lambda g, input, num_groups, weight, eps, needs: cpp.group_norm_backward(
        g, input, num_groups, weight, eps, needs
    ),
    fused_grad=lambda g, input, num_groups, weight, eps, needs: cpp.group_norm_backward_fused(
        g, input, num_groups, weight, eps, needs
    ),
    nodes={"": "NativeGroupNormBackward0"},
    samples=lambda s: [
        s(s.t(2, 4, 2), 2),
        s(s.t(2, 6, 3), 3, s.t(6), s.t(6)),
        s(s.t(2, 4, 3, 3), 1, s.t(4)),
        s(s.t(2, 4), 2),
    ],
    doc="Shifts and scales groups of channels to mean 0 and variance 1.",
)

group_norm_torch = composite(
    "group_norm.torch(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enabled=True) -> Tensor",
    kernel="group_norm_torch",
    doc=group_norm.doc,
)

instance_norm = composite(
    "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, "
    "Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",
    kernel="instance_norm",
    namespace="nn.functional",
    samples=lambda s: [
        s(s.t(2, 3, 4)),
        s(s.t(2, 3, 4, 4), None, None, s.t(3), s.t(3)),
    ],
    doc="Shifts and scales each channel of each sample to mean 0 and variance 1.",
)

rms_norm = composite(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    kernel="rms_norm",
    aliases=("nn.functional.rms_norm",),
    samples=lambda s: [s(s.t(3, 4), (4,)), s(s.t(2, 3, 4), (3, 4), s.t(3, 4), 1e-3)],
    doc="Scales the last dims to a root mean square of 1.",
)
native_layer_norm = composite(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps)"
    " -> (Tensor, Tensor, Tensor)",
    kernel="native_layer_norm",
    variants="function",
    samples=lambda s: [s(s.t(2, 3, 4), (3, 4), s.t(3, 4), None, 1e-5)],
    doc="layer_norm, and the mean and the inverse deviation of each row.",
)
native_group_norm = composite(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps)"
    " -> (Tensor, Tensor, Tensor)",
    kernel="native_group_norm",
    variants="function",
    samples=lambda s: [s(s.t(2, 4, 3), s.t(4), s.t(4), 2, 4, 3, 2, 1e-5)],
    doc="group_norm, and the mean and the inverse deviation of each group.",
)

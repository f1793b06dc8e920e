"""Losses, each one operator."""

import numpy as np

from catalogue import math as m
from catalogue.dtypes import floating
from catalogue.kinds import composite, op, pointwise
from catalogue.pointwise.exp_log import log, log1p
from catalogue.pointwise.select import maximum
from codegen.expr import cpp

PAIRS = "Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean'"


def _samples(**options):
    return lambda s: [
        s(s.t(3, 5), s.t(3, 5), **options),
        s(s.t(3, 5), s.t(3, 5), reduction="sum", **options),
        s(s.t(3, 5), s.t(3, 5), reduction="none", **options),
        s(s.t(), s.t(), **options),
        s(s.t(37, permuted=True), s.t(37), **options),
    ]


mse_loss = op(
    f"mse_loss({PAIRS}, Tensor? weight=None) -> Tensor",
    kernel="mse_loss",
    namespace="nn.functional",
    autocast="float32",
    dtypes=floating,
    grad=lambda g, input, target, size_average, reduce, reduction, needs: cpp.mse_loss_backward(
        g, input, target, size_average, reduce, reduction, needs
    ),
    samples=_samples(),
    doc="The squared difference, averaged.",
)
l1_loss = op(
    f"l1_loss({PAIRS}, Tensor? weight=None) -> Tensor",
    kernel="l1_loss",
    namespace="nn.functional",
    autocast="float32",
    dtypes=floating,
    grad=lambda g, input, target, size_average, reduce, reduction, needs: cpp.l1_loss_backward(
        g, input, target, size_average, reduce, reduction, needs
    ),
    samples=_samples(),
    doc="The absolute difference, averaged.",
)
smooth_l1_loss = op(
    f"smooth_l1_loss({PAIRS}, float beta=1.0) -> Tensor",
    kernel="smooth_l1_loss",
    namespace="nn.functional",
    autocast="float32",
    dtypes=floating,
    grad=lambda g, input, target, size_average, reduce, reduction, beta, needs: cpp.smooth_l1_loss_backward(
        g, input, target, size_average, reduce, reduction, beta, needs
    ),
    samples=_samples(beta=0.5),
    doc="Squared below beta, absolute above, averaged.",
)
binary_cross_entropy = pointwise(
    "_binary_cross_entropy(Tensor input, Tensor target) -> Tensor",
    namespace="nn.functional",
    variants="function",
    dtypes=floating,
    kernel=lambda input, target: (target - 1) * maximum(m.log1p(-input), -100) - target * maximum(m.log(input), -100),
    grad=lambda g, input, target: (
        g * ((input - target) / maximum((1 - input) * input, 1e-12)),
        g * (log1p(-input) - log(input)),
    ),
    ref=lambda x, t: (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100),
    samples=lambda s: [s(s.t(3, 5, low=0.1, high=0.9), s.t(3, 5, low=0, high=1)), s(s.t(low=0.1, high=0.9), s.t())],
    doc="-target log(input) - (1 - target) log(1 - input), with logarithms of at least -100.",
)
huber_loss = op(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
    kernel="huber_loss",
    namespace="nn.functional",
    autocast="float32",
    dtypes=floating,
    grad=lambda g, input, target, reduction, delta, needs: cpp.huber_loss_backward(
        g, input, target, reduction, delta, needs
    ),
    samples=_samples(delta=0.5),
    doc="Squared below delta, linear above, averaged.",
)

cross_entropy_index = op(
    "cross_entropy_index(Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction, "
    "float label_smoothing) -> Tensor",
    kernel="cross_entropy_index",
    namespace="private",
    dtypes=floating,
    grad=lambda g, input, target, weight, ignore_index, reduction, label_smoothing: (
        cpp.cross_entropy_index_backward(g, input, target, weight, ignore_index, reduction, label_smoothing),
        None,
        None,
    ),
    fused_grad=lambda g, input, target, weight, ignore_index, reduction, label_smoothing: (
        cpp.cross_entropy_index_backward_fused(g, input, target, weight, ignore_index, reduction, label_smoothing),
        None,
        None,
    ),
    nodes={"": "CrossEntropyBackward0"},
    doc="cross_entropy with class indices as target.",
)
cross_entropy = composite(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, "
    "bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
    kernel="cross_entropy",
    namespace="nn.functional",
    autocast="float32",
    samples=lambda s: [
        s(s.t(3, 5), s.ints(3, high=5)),
        s(s.t(3, 5), s.ints(3, high=5), reduction="sum"),
        s(s.t(3, 5), s.ints(3, high=5), s.t(5, low=0.1, high=1.0, requires_grad=False), label_smoothing=0.2),
        s(s.t(3, 5), s.ints(3, high=5), ignore_index=1, reduction="none"),
        s(s.t(2, 5, 3), s.ints(2, 3, high=5)),
        s(s.t(5), s.values(2, dtype="int64", shape=())),
        s(s.t(3, 5), s.t(3, 5, low=0.0, high=1.0), label_smoothing=0.1),
    ],
    doc="The negative log-likelihood of the targets under softmax of the scores.",
)
nll_loss_index = op(
    "nll_loss_index(Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction) -> Tensor",
    kernel="nll_loss_index",
    namespace="private",
    dtypes=floating,
    grad=lambda g, input_sizes, target, weight, ignore_index, reduction: (
        cpp.nll_loss_index_backward(g, input_sizes, target, weight, ignore_index, reduction),
        None,
        None,
    ),
    nodes={"": "NllLossBackward0"},
    doc="nll_loss, its arguments checked.",
)
nll_loss = composite(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, "
    "bool? reduce=None, str reduction='mean') -> Tensor",
    kernel="nll_loss",
    namespace="nn.functional",
    autocast="float32",
    samples=lambda s: [
        s(s.t(3, 5), s.ints(3, high=5)),
        s(s.t(3, 5), s.ints(3, high=5), s.t(5, low=0.1, high=1.0, requires_grad=False), reduction="sum"),
        s(s.t(2, 5, 3), s.ints(2, 3, high=5), ignore_index=2),
    ],
    doc="The negative log-probability at the targets.",
)

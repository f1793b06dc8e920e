"""softmax and log_softmax."""

from catalogue.dtypes import floating
from catalogue.kinds import composite, op
from codegen.expr import cpp

softmax = op(
    "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    kernel="softmax",
    out=True,
    dtypes=floating,
    aliases=("special.softmax",),
    grad=lambda g, y, dim: cpp.softmax_backward(g, y, dim),
    fused_grad=lambda g, y, dim: cpp.softmax_backward_fused(g, y, dim),
    samples=lambda s: [
        s(s.t(3, 4), -1),
        s(s.t(3, 4), 0),
        s(s.t(2, 3, 37), 2),
        s(s.t(2, 3, 4), 1, dtype="float64"),
        s(s.t(), 0),
        s(s.t(0, 3), 1),
        s(s.t(3, 4, permuted=True), -1),
    ],
    doc="exp(x) over its sum along dim.",
)
softmax_function = composite(
    "softmax.function(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
    kernel="softmax_function",
    namespace="nn.functional",
    doc=softmax.doc,
)
softmin = composite(
    "softmin(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
    kernel="softmin",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(3, 4), -1), s(s.t(3, 4), 0)],
    doc="softmax of the negated argument.",
)

log_softmax = op(
    "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    kernel="log_softmax",
    out=True,
    dtypes=floating,
    aliases=("special.log_softmax",),
    grad=lambda g, y, dim: cpp.log_softmax_backward(g, y, dim),
    fused_grad=lambda g, y, dim: cpp.log_softmax_backward_fused(g, y, dim),
    samples=lambda s: [
        s(s.t(3, 4), -1),
        s(s.t(3, 4), 0),
        s(s.t(2, 3, 37), 2),
        s(s.t(2, 3, 4), 1, dtype="float64"),
        s(s.t(), 0),
        s(s.t(0, 3), 1),
    ],
    doc="The logarithm of softmax, safe against overflow.",
)
log_softmax_function = composite(
    "log_softmax.function(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
    kernel="log_softmax_function",
    namespace="nn.functional",
    doc=log_softmax.doc,
)

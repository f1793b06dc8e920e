"""Tables that are looked up by index."""

from catalogue.kinds import op
from codegen.expr import cpp

embedding = op(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    kernel="embedding",
    namespace="nn.functional",
    linear=("weight",),
    grad=lambda g, input, weight_sizes, padding_idx, scale_grad_by_freq: (
        None,
        cpp.embedding_backward(g, input, weight_sizes, padding_idx, scale_grad_by_freq),
    ),
    fused_grad=lambda g, input, weight_sizes, padding_idx, scale_grad_by_freq: (
        None,
        cpp.embedding_backward_fused(g, input, weight_sizes, padding_idx, scale_grad_by_freq),
    ),
    samples=lambda s: [
        s(s.ints(2, 3, high=5), s.t(5, 4)),
        s(s.ints(6, high=5), s.t(5, 4), padding_idx=1),
        s(s.ints(6, high=5), s.t(5, 4), scale_grad_by_freq=True),
        s(s.ints(0, high=5), s.t(5, 4)),
    ],
    doc="Rows of a table.",
)

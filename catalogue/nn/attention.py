"""Attention."""

from catalogue.dtypes import floating
from catalogue.kinds import composite, op
from codegen.expr import cpp

attention = op(
    "attention(Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, float scale) -> Tensor",
    kernel="attention",
    namespace="private",
    dtypes=floating,
    grad=lambda g, query, key, value, mask, is_causal, scale, needs: cpp.attention_backward(
        g, query, key, value, mask, is_causal, scale, needs
    ),
    fused_grad=lambda g, query, key, value, mask, is_causal, scale, needs: cpp.attention_backward_fused(
        g, query, key, value, mask, is_causal, scale, needs
    ),
    nodes={"": "ScaledDotProductFlashAttentionForCpuBackward0"},
    doc="softmax(query @ key.T * scale + mask) @ value over (B, H, L, E), block by block.",
)
scaled_dot_product_attention = composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
    "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    kernel="scaled_dot_product_attention",
    namespace="nn.functional",
    autocast="lower",
    samples=lambda s: [
        s(s.t(1, 2, 3, 4), s.t(1, 2, 5, 4), s.t(1, 2, 5, 4)),
        s(s.t(2, 2, 5, 4), s.t(2, 2, 5, 4), s.t(2, 2, 5, 3), is_causal=True),
        s(s.t(2, 4, 3, 4), s.t(2, 2, 5, 4), s.t(2, 2, 5, 4), enable_gqa=True, scale=0.3),
        s(s.t(2, 3, 4), s.t(2, 5, 4), s.t(2, 5, 4), s.t(3, 5)),
    ],
    doc="Values averaged by how well their keys fit each query.",
)

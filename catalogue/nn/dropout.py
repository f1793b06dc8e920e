"""Random zeros."""

from catalogue.kinds import composite, op

scaled_mask = op(
    "scaled_mask(Tensor input, int[] size, float p) -> Tensor",
    kernel="scaled_mask",
    namespace="private",
    grad=None,
    doc="0 with probability p, else 1 / (1 - p); of input's dtype.",
)
masked_by_chance = op(
    "masked_by_chance(Tensor input, float p) -> (Tensor, Tensor)",
    kernel="masked_by_chance",
    namespace="private",
    nondiff=(1,),
    grad=lambda g0, y1: g0 * y1,
    nodes={"": "MulBackward0"},
    doc="input times a scaled_mask, and the mask.",
)
dropout = composite(
    "dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    kernel="dropout",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(3, 4), 0.5, False), s(s.t(3, 4), 0.0), s(s.t(3, 4), 1.0)],
    doc="Zeroes elements with probability p and scales the rest by 1 / (1 - p).",
)
dropout_torch = composite(
    "dropout.torch(Tensor input, float p, bool train) -> Tensor",
    kernel="dropout_torch",
    doc=dropout.doc,
)
dropout1d = composite(
    "dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    kernel="dropout1d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 2), 0.5, False)],
    doc="Zeroes whole channels with probability p.",
)
dropout2d = composite(
    "dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    kernel="dropout2d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 2, 2), 0.5, False)],
    doc="Zeroes whole channels with probability p.",
)
dropout3d = composite(
    "dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    kernel="dropout3d",
    namespace="nn.functional",
    samples=lambda s: [s(s.t(2, 3, 2, 2, 2), 0.5, False)],
    doc="Zeroes whole channels with probability p.",
)

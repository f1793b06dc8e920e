"""torch.nn.functional: native operators, and Python over them. Rarer families load when first used."""

from vivace import _C
from vivace._lazy import lazily

_C.install(globals(), "nn.functional")

# These complete the signature of a native operator, so they come after it.
from ._functional.activation import *  # noqa: E402
from ._functional.pooling import *  # noqa: E402

# Compositions; a native operator of the same name stands above and is found first.
_FAMILIES = {
    "attention": "multi_head_attention_forward",
    "loss": (
        "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss gaussian_nll_loss "
        "hinge_embedding_loss kl_div margin_ranking_loss multi_margin_loss multilabel_margin_loss "
        "multilabel_soft_margin_loss poisson_nll_loss soft_margin_loss triplet_margin_loss "
        "triplet_margin_with_distance_loss"
    ),
    "resize": "interpolate upsample upsample_bilinear upsample_nearest",
    "shuffle": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "vectors": "bilinear cosine_similarity local_response_norm normalize one_hot pairwise_distance",
    "windows": "embedding_bag fold unfold",
}
_HOME = {name: f"vivace.nn._functional.{family}" for family, names in _FAMILIES.items() for name in names.split()}

__getattr__ = lazily("vivace.nn.functional", _HOME)

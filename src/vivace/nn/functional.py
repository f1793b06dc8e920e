"""torch.nn.functional: native operators, and thin Python over them."""

from vivace import _C

from ._functional.activation import (
    alpha_dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    glu,
    gumbel_softmax,
    rrelu,
    sigmoid,
    softmin,
    tanh,
)
from ._functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ._functional.vectors import (
    bilinear,
    cosine_similarity,
    local_response_norm,
    normalize,
    one_hot,
    pairwise_distance,
)
from ._functional.vision import (
    adaptive_avg_pool1d,
    channel_shuffle,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)

_C.install(globals(), "nn.functional")  # a native operator takes the place of a Python one ...

from ._functional.activation import (  # noqa: E402  ... but for those that Python completes
    celu,
    dropout,
    elu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    silu,
    softmax,
    threshold,
)
from ._functional.vision import (  # noqa: E402
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    interpolate,
)


def __getattr__(name):
    raise AttributeError(f"vivace does not have torch.nn.functional.{name}")

"""Activations with an `inplace` flag, and dropouts that keep the statistics of SELU."""

import vivace

from . import native as _nn

__all__ = [
    "alpha_dropout",
    "celu",
    "elu",
    "feature_alpha_dropout",
    "glu",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "mish",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "tanh",
    "threshold",
]


def relu(input, inplace=False):
    """The larger of 0 and each element; `inplace` writes to the input."""
    return input.relu_() if inplace else input.relu()


def relu6(input, inplace=False):
    """Each element within [0, 6]."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


def elu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x) - 1)."""
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


def celu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x / alpha) - 1): elu with a continuous slope."""
    return _nn.celu_(input, alpha) if inplace else _nn.celu(input, alpha)


def selu(input, inplace=False):
    """1.0507 * elu(x, 1.6733): keeps mean 0 and variance 1 through layers (Klambauer et al., 2017)."""
    return _nn.selu_(input) if inplace else _nn.selu(input)


def silu(input, inplace=False):
    """x * sigmoid(x), also called swish."""
    return _nn.silu_(input) if inplace else _nn.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


def hardsigmoid(input, inplace=False):
    """relu6(x + 3) / 6, a sigmoid of straight lines."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def hardswish(input, inplace=False):
    """x * relu6(x + 3) / 6."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Each element within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, else negative_slope * x."""
    return _nn.leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)


def threshold(input, threshold, value, inplace=False):
    """x where it is larger than the threshold, else `value`."""
    return _nn.threshold_(input, threshold, value) if inplace else _nn.threshold(input, threshold, value)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu whose slope is drawn from [lower, upper] for each element in training, else the mean of the two."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    with vivace.no_grad():
        negative = input <= 0
        draws = vivace.empty(int(negative.sum()), dtype=vivace.float64).uniform_(lower, upper)
        slope = vivace.ones_like(input).masked_scatter_(negative, draws.to(input.dtype))
    return input.mul_(slope) if inplace else input * slope


def glu(input, dim=-1):
    """The first half of the input along `dim`, times the sigmoid of the second; the size must be even."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if input.size(dim) % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.size(dim)}")
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input):
    """1 / (1 + exp(-x))"""
    return input.sigmoid()


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the relaxed categorical distribution; `hard` makes it one-hot and keeps the soft gradient."""
    noise = -vivace.empty_like(logits, memory_format=vivace.contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return vivace.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# ---- dropout


def _check_probability(p):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


_SELU_DEPTH = 1.7580993408473766  # SELU goes down to minus this


def _alpha_dropout(input, p, training, inplace, shape):
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    kept = input.new_empty(shape).bernoulli_(1 - p)
    a = 1.0 / ((_SELU_DEPTH**2 * p + 1) * (1 - p)) ** 0.5
    offset = (kept - 1) * (_SELU_DEPTH * a) + _SELU_DEPTH * a * p
    scale = kept * a
    return input.mul_(scale).add_(offset) if inplace else input * scale + offset


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout for selu: sets elements to its lowest value by chance p, and keeps mean and variance."""
    return _alpha_dropout(input, p, training, inplace, input.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    return _alpha_dropout(input, p, training, inplace, (*input.shape[:2], *[1] * (input.dim() - 2)))

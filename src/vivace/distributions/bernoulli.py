"""Bernoulli(probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.utils import broadcast_all
from vivace.nn.functional import binary_cross_entropy_with_logits


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._init_probability(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        return vivace.where(self.probs == 0.5, float("nan"), mode)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            return vivace.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        return self._enumerated(vivace.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self):
        return (vivace.logit(self.probs),)

    def _log_normalizer(self, x):
        return vivace.log(1 + vivace.exp(x))

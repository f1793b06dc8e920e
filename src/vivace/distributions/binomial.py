"""Binomial(total_count, probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.distribution import Distribution


class Binomial(ProbsOrLogits, Distribution):
    """The number of successes among `total_count` trials."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        (total_count,) = self._init_probability(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with vivace.no_grad():
            return vivace.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        count = self.total_count
        choices = vivace.lgamma(count + 1) - vivace.lgamma(value + 1) - vivace.lgamma(count - value + 1)
        # log(1 + exp(logits)), which does not overflow
        norm = self.logits.clamp(min=0) + vivace.log1p(vivace.exp(-self.logits.abs()))
        return value * self.logits + choices - count * norm

    def entropy(self):
        log_prob = self.log_prob(self._common_support(False))
        return -(vivace.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        return self._common_support(expand)

    def _common_support(self, expand):
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = vivace.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)

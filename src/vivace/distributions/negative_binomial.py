"""NegativeBinomial(total_count, probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.distribution import Distribution
from vivace.distributions.gamma import Gamma
from vivace.distributions.utils import lazy_property
from vivace.nn.functional import logsigmoid


class NegativeBinomial(ProbsOrLogits, Distribution):
    """The number of successes before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        (total_count,) = self._init_probability(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * vivace.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / vivace.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=vivace.exp(-self.logits), validate_args=False)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new.__dict__.pop("_gamma", None)
        return new

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            return vivace.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        chance = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        norm = -vivace.lgamma(self.total_count + value) + vivace.lgamma(1.0 + value) + vivace.lgamma(self.total_count)
        return chance - norm.masked_fill(self.total_count + value == 0.0, 0.0)

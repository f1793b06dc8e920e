"""Geometric(probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import broadcast_all
from vivace.nn.functional import binary_cross_entropy_with_logits


class Geometric(ProbsOrLogits, Distribution):
    """The number of failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._init_probability(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self):
        return 1 / self.probs - 1

    @property
    def mode(self):
        return vivace.zeros_like(self.probs)

    @property
    def variance(self):
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape))
            u.uniform_(vivace.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)  # 0 failures of probability 0
        return value * (-probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs

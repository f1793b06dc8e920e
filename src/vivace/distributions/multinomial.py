"""Multinomial(total_count, probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.binomial import Binomial
from vivace.distributions.categorical import Categorical
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import broadcast_all


class Multinomial(Distribution):
    """How often each category comes up in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _parts = ("_categorical",)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def param_shape(self):
        return self._categorical.param_shape

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        sample_shape = vivace.Size(sample_shape)
        drawn = self._categorical.sample((self.total_count,) + sample_shape)
        drawn = drawn.movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, vivace.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        return vivace.lgamma(value.sum(-1) + 1) - vivace.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self):
        n = vivace.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        each = Binomial(self.total_count, probs=self.probs)
        weights = vivace.exp(each.log_prob(each.enumerate_support(expand=False)))[1:]
        logs = vivace.lgamma(each.enumerate_support(expand=False)[1:] + 1)
        return n * self._categorical.entropy() - vivace.lgamma(n + 1) + (weights * logs).sum([0, -1])

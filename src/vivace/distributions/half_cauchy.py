"""HalfCauchy(scale)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.cauchy import Cauchy
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import AbsTransform


class HalfCauchy(TransformedDistribution):
    """Absolute values of Cauchy(0, scale)."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return vivace.full_like(self.scale, math.inf)

    @property
    def mode(self):
        return vivace.zeros_like(self.scale)

    @property
    def variance(self):
        return self.base_dist.variance

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = vivace.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return (self.base_dist.log_prob(value) + math.log(2)).masked_fill(value < 0, -math.inf)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)

"""GeneralizedPareto(loc, scale, concentration)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution


class GeneralizedPareto(Distribution):
    """Excesses over a high threshold: tails that fall as a power, exponentially, or end, as the concentration is
    positive, zero or negative.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self._init_scalars(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        k = self.concentration
        return constraints.interval(self.loc, vivace.where(k < 0, self.loc - self.scale / k, math.inf))

    def _exponential(self):
        """Where the concentration is zero, and concentrations that can be divided by."""
        zero = self.concentration.abs() < vivace.finfo(self.concentration.dtype).eps
        return zero, vivace.where(zero, vivace.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(vivace.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        zero, k = self._exponential()
        y = (value - self.loc) / self.scale
        return -self.scale.log() - vivace.where(zero, y, (1 + 1 / k) * vivace.log1p(k * y))

    def log_survival_function(self, value):
        zero, k = self._exponential()
        y = (value - self.loc) / self.scale
        return -vivace.where(zero, y, vivace.log1p(k * y) / k)

    def log_cdf(self, value):
        return vivace.log1p(-self.log_survival_function(value).exp())

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.log_cdf(value).exp()

    def icdf(self, value):
        zero, k = self._exponential()
        log_survival = vivace.log1p(-value)
        return self.loc + self.scale * vivace.where(zero, -log_survival, vivace.expm1(-k * log_survival) / k)

    @property
    def mean(self):
        k = self.concentration
        return vivace.where(k < 1, self.loc + self.scale / (1 - k), math.inf)

    @property
    def variance(self):
        k = self.concentration
        return vivace.where(k < 0.5, self.scale.pow(2) / ((1 - k).pow(2) * (1 - 2 * k)), math.inf)

    @property
    def mode(self):
        return self.loc

    def entropy(self):
        return self.scale.log() + self.concentration + 1

"""InverseGamma(concentration, rate)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.gamma import Gamma
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """Reciprocals of gamma numbers."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self):
        return self.base_dist.concentration

    @property
    def rate(self):
        return self.base_dist.rate

    @property
    def mean(self):
        mean = self.rate / (self.concentration - 1)
        return vivace.where(self.concentration > 1, mean, vivace.full_like(mean, vivace.inf))

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        variance = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return vivace.where(self.concentration > 2, variance, vivace.full_like(variance, vivace.inf))

    def entropy(self):
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )

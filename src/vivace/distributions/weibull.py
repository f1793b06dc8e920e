"""Weibull(scale, concentration)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.exponential import Exponential
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import AffineTransform, PowerTransform
from vivace.distributions.utils import broadcast_all, euler_constant


class Weibull(TransformedDistribution):
    """Powers of exponential numbers, scaled."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(vivace.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self):
        return self.scale * vivace.exp(vivace.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self):
        inner = (self.concentration - 1) / self.concentration
        return self.scale * inner ** self.concentration.reciprocal()

    @property
    def variance(self):
        inverse = self.concentration.reciprocal()
        second = vivace.exp(vivace.lgamma(1 + 2 * inverse))
        return self.scale.pow(2) * (second - vivace.exp(2 * vivace.lgamma(1 + inverse)))

    def entropy(self):
        inverse = self.concentration.reciprocal()
        return euler_constant * (1 - inverse) + vivace.log(self.scale * inverse) + 1

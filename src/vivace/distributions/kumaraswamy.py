"""Kumaraswamy(concentration1, concentration0)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import AffineTransform, PowerTransform
from vivace.distributions.uniform import Uniform
from vivace.distributions.utils import broadcast_all, euler_constant


class Kumaraswamy(TransformedDistribution):
    """Numbers in [0, 1] much like Beta's, with a closed cdf."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            vivace.zeros_like(self.concentration0),
            vivace.ones_like(self.concentration0),
            validate_args=validate_args,
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return vivace.exp(vivace.lgamma(first) + vivace.lgamma(b) - vivace.lgamma(first + b)) * b

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return mode.masked_fill((a < 1) | (b < 1), float("nan"))

    @property
    def variance(self):
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = vivace.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - vivace.log(a) - vivace.log(b)

"""Cauchy(loc, scale)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution


class Cauchy(Distribution):
    """The ratio of two centred normals, moved by `loc` and scaled; it has no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._init_scalars(validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return vivace.full_like(self.loc, float("nan"))

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return vivace.full_like(self.loc, float("inf"))

    def rsample(self, sample_shape=()):
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return vivace.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return vivace.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()

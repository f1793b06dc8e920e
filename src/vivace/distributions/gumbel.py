"""Gumbel(loc, scale)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import AffineTransform, ExpTransform
from vivace.distributions.uniform import Uniform
from vivace.distributions.utils import broadcast_all, euler_constant


class Gumbel(TransformedDistribution):
    """What the largest of many numbers tends to: loc - scale log(-log(u)), u uniform."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = vivace.finfo(self.loc.dtype)
        low, high = vivace.full_like(self.loc, finfo.tiny), vivace.full_like(self.loc, 1 - finfo.eps)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-vivace.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)

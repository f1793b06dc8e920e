"""Laplace(loc, scale)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution


class Laplace(Distribution):
    """Numbers whose distances from `loc` are exponential, on either side."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._init_scalars(validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        return 2**0.5 * self.scale

    def rsample(self, sample_shape=()):
        u = self.loc.new_empty(self._extended_shape(sample_shape))
        u.uniform_(vivace.finfo(u.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * vivace.log1p(-u.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -vivace.log(2 * self.scale) - vivace.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * vivace.expm1(-distance.abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * vivace.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + vivace.log(2 * self.scale)

"""Gamma(concentration, rate)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.exp_family import ExponentialFamily


class Gamma(ExponentialFamily):
    """Gamma numbers of shape `concentration` and inverse scale `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self._init_scalars(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = vivace._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=vivace.finfo(value.dtype).tiny)  # without a step in the graph
        return value

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (
            vivace.xlogy(self.concentration, self.rate)
            + vivace.xlogy(self.concentration - 1, value)
            - self.rate * value
            - vivace.lgamma(self.concentration)
        )

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return vivace.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        return (
            self.concentration
            - vivace.log(self.rate)
            + vivace.lgamma(self.concentration)
            + (1.0 - self.concentration) * vivace.digamma(self.concentration)
        )

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return vivace.lgamma(x + 1) + (x + 1) * vivace.log(-y.reciprocal())

"""Poisson(rate)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.utils import broadcast_all


class Poisson(ExponentialFamily):
    """Counts of independent events, `rate` of them on average."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self._init_scalars(validate_args, rate=rate)

    @property
    def mean(self):
        return self.rate

    @property
    def mode(self):
        return self.rate.floor()

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            return vivace.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (vivace.log(self.rate),)

    def _log_normalizer(self, x):
        return vivace.exp(x)

"""Beta(concentration1, concentration0)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.dirichlet import Dirichlet
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.utils import broadcast_all


class Beta(ExponentialFamily):
    """Numbers in [0, 1]: the first part of a Dirichlet point of two parts."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _parts = ("_dirichlet",)

    def __init__(self, concentration1, concentration0, validate_args=None):
        both = vivace.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(vivace.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return vivace.lgamma(x) + vivace.lgamma(y) - vivace.lgamma(x + y)

"""Dirichlet(concentration)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.exp_family import ExponentialFamily


class Dirichlet(ExponentialFamily):
    """Points of the simplex; the last dimension of `concentration` is the event's."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = vivace.nn.functional.one_hot(mode.argmax(dim=-1), above.shape[-1]).to(mode)
        return vivace.where((self.concentration < 1).all(dim=-1, keepdim=True), corner, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return vivace._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (
            vivace.xlogy(self.concentration - 1.0, value).sum(-1)
            + vivace.lgamma(self.concentration.sum(-1))
            - vivace.lgamma(self.concentration).sum(-1)
        )

    def entropy(self):
        k = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (
            vivace.lgamma(self.concentration).sum(-1)
            - vivace.lgamma(total)
            - (k - total) * vivace.digamma(total)
            - ((self.concentration - 1.0) * vivace.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - vivace.lgamma(x.sum(-1))

"""ContinuousBernoulli(probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.exp_family import ExponentialFamily
from vivace.distributions.utils import broadcast_all, clamp_probs
from vivace.nn.functional import binary_cross_entropy_with_logits


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers x in [0, 1] with density in proportion to p^x (1 - p)^(1 - x).

    Around p = 1/2, between the bounds `lims`, formulas that divide by 1 - 2 p are replaced by their Taylor series.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._init_probability(probs, logits)
        if probs is not None:
            if (
                validate_args is not None
                and validate_args
                and not self.arg_constraints["probs"].check(self.probs).all()
            ):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def _outside(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        """The probabilities, with those near 1/2 moved to where the formulas hold."""
        return vivace.where(self._outside(), self.probs, vivace.full_like(self.probs, self._lims[0]))

    def _cont_bern_log_norm(self):
        """The logarithm of the density's normalising factor."""
        cut = self._cut_probs()
        log_norm = vivace.log(vivace.abs(vivace.log1p(-cut) - vivace.log(cut))) - vivace.log(vivace.abs(1 - 2.0 * cut))
        x = self.probs - 0.5
        taylor = vivace.log(vivace.tensor(2.0, dtype=x.dtype)) + (4.0 / 3.0 + 104.0 / 45.0 * x.pow(2)) * x.pow(2)
        return vivace.where(self._outside(), log_norm, taylor)

    @property
    def mean(self):
        cut = self._cut_probs()
        mean = cut / (2.0 * cut - 1.0) + 1.0 / (vivace.log1p(-cut) - vivace.log(cut))
        x = self.probs - 0.5
        return vivace.where(self._outside(), mean, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self):
        cut = self._cut_probs()
        variance = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / (vivace.log1p(-cut) - vivace.log(cut)).pow(2)
        square = (self.probs - 0.5).pow(2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square
        return vivace.where(self._outside(), variance, taylor)

    @property
    def stddev(self):
        return vivace.sqrt(self.variance)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(vivace.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        cdf = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = vivace.where(self._outside(), cdf, value)
        return vivace.where(value <= 0.0, 0.0, vivace.where(value >= 1.0, 1.0, inside).to(inside)).to(inside)

    def icdf(self, value):
        cut = self._cut_probs()
        found = (vivace.log1p(-cut + value * (2.0 * cut - 1.0)) - vivace.log1p(-cut)) / (
            vivace.log(cut) - vivace.log1p(-cut)
        )
        return vivace.where(self._outside(), found, value)

    def entropy(self):
        log0, log1 = vivace.log1p(-self.probs), vivace.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = vivace.where(outside, x, (self._lims[0] - 0.5) * vivace.ones_like(x))
        log_norm = vivace.log(vivace.abs(vivace.special.expm1(cut))) - vivace.log(vivace.abs(cut))
        return vivace.where(outside, log_norm, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)

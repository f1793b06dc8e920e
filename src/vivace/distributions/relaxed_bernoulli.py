"""RelaxedBernoulli(temperature, probs or logits), and the distribution of its logits."""

import vivace
from vivace.distributions import constraints
from vivace.distributions._logits import ProbsOrLogits
from vivace.distributions.distribution import Distribution
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import SigmoidTransform
from vivace.distributions.utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """Logistic numbers around the logits, over the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._init_probability(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(vivace.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that tend to Bernoulli's as the temperature falls, with gradients."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self):
        return self.base_dist.logits

    @property
    def probs(self):
        return self.base_dist.probs

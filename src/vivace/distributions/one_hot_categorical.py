"""OneHotCategorical(probs or logits), and one whose samples pass gradients straight to the probabilities."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.categorical import Categorical
from vivace.distributions.distribution import Distribution


class OneHotCategorical(Distribution):
    """Vectors with a one at a drawn category."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _parts = ("_categorical",)

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    @property
    def _param(self):
        return self._categorical._param

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def param_shape(self):
        return self._categorical.param_shape

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return vivace.nn.functional.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        drawn = self._categorical.sample(sample_shape)
        return vivace.nn.functional.one_hot(drawn, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = vivace.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + tuple(self.batch_shape) + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Samples are one-hot; their gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        probs = self.probs
        return self.sample(sample_shape) + (probs - probs.detach())

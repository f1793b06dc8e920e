"""Categorical(probs or logits)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import exactly_one, lazy_property, logits_to_probs, probs_to_logits


class Categorical(Distribution):
    """Indices of categories, whose probabilities (or their logarithms, up to a constant) the last dimension holds."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._given = exactly_one(probs=probs, logits=logits)
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    @property
    def _param(self):
        return self.__dict__[self._given]

    @property
    def param_shape(self):
        return self._param.size()

    @property
    def mean(self):
        return vivace.full(self.batch_shape, float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    @property
    def variance(self):
        return self.mean

    def sample(self, sample_shape=()):
        sample_shape = vivace.Size(sample_shape)
        with vivace.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = vivace.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = vivace.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=vivace.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return self._enumerated(vivace.arange(self._num_events, device=self._param.device), expand)

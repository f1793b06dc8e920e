"""MixtureSameFamily(mixture_distribution, component_distribution)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.categorical import Categorical
from vivace.distributions.constraints import MixtureSameFamilyConstraint
from vivace.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """Draws from the component that a Categorical picks; components are the last batch dimension."""

    arg_constraints = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        batch = component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(mixture_distribution.batch_shape), reversed(batch), strict=False):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        km = mixture_distribution.logits.shape[-1]
        kc = component_distribution.batch_shape[-1]
        if km != kc:
            raise ValueError(
                f"`mixture_distribution component` ({km}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({kc})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = km
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand(new._batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(new._batch_shape)
        return new

    @property
    def has_rsample(self):
        return False

    @constraints.dependent_property
    def support(self):
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    def _average(self, values):
        probs = self._mixture_distribution.probs
        probs = probs.reshape(probs.shape + (1,) * self._event_ndims)
        return (probs * values).sum(-1 - self._event_ndims)

    @property
    def mean(self):
        return self._average(self._component_distribution.mean)

    @property
    def variance(self):
        component = self._component_distribution
        offset = component.mean - self.mean.unsqueeze(-1 - self._event_ndims)
        return self._average(component.variance) + self._average(offset.pow(2))

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x):
        return (self._component_distribution.cdf(self._pad(x)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        log_prob = self._component_distribution.log_prob(self._pad(x))
        log_mix = vivace.log_softmax(self._mixture_distribution.logits, dim=-1)
        return vivace.logsumexp(log_prob + log_mix, dim=-1)

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            picked = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            dim = drawn.dim() - self._event_ndims - 1
            index = picked.reshape(picked.shape + (1,) * (1 + self._event_ndims))
            index = index.expand(picked.shape + (1,) + self._event_shape)
            return drawn.gather(dim, index).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"

"""Bernoulli's parameters, of which one is given and the other computed: probs and logits."""

from vivace.distributions.utils import (
    broadcast_all,
    exactly_one,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)


class ProbsOrLogits:
    """A mixin for distributions over numbers with a probability of success."""

    def _init_probability(self, probs, logits, *others):
        """Keeps the one that is given, broadcast with the others, which it returns."""
        name = exactly_one(probs=probs, logits=logits)
        value, *others = broadcast_all(logits if probs is None else probs, *others)
        setattr(self, name, value)
        self._given = name
        return others

    @property
    def _param(self):
        return self.__dict__[self._given]

    @property
    def param_shape(self):
        return self._param.size()

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

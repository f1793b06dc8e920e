"""ExponentialFamily: densities exp(t(x) . n - F(n) + k(x)), whose entropy and divergences follow from F."""

import vivace
from vivace.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    """A subclass gives its natural parameters n, F as `_log_normalizer`, and the mean of k."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """By F and its gradient."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*natural)
        slopes = vivace.autograd.grad(log_normalizer.sum(), natural, create_graph=True)
        result = log_normalizer - self._mean_carrier_measure
        for parameter, slope in zip(natural, slopes, strict=True):
            result = result - (parameter * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return result

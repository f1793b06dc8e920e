"""Distribution: what all distributions have. A subclass names its parameters in `arg_constraints` and keeps each as an
attribute, so expanding and printing need no code of its own.
"""

import warnings

import vivace
from vivace.distributions import constraints
from vivace.distributions.utils import broadcast_all, lazy_property


class Distribution:
    """Independent draws for each place of `batch_shape`, each of `event_shape`."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _parts = ()  # names of attributes that are distributions of the same batch

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters and values are checked where a call does not say."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = vivace.Size(batch_shape)
        self._event_shape = vivace.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _init_scalars(self, validate_args, **parameters):
        """For distributions of numbers: broadcasts the parameters, whose shape is the batch's, and keeps them."""
        for name, value in zip(parameters, broadcast_all(*parameters.values()), strict=True):
            setattr(self, name, value)
        Distribution.__init__(self, value.shape, validate_args=validate_args)

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` "
                "or initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in arg_constraints.items():
            computed = name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property)
            if constraints.is_dependent(constraint) or computed:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None):
        """The same distribution with its parameters expanded to a batch shape."""
        package = __name__.rpartition(".")[0]
        ours = next(cls for cls in type(self).__mro__ if cls.__module__.startswith(package))
        new = self._get_checked_instance(ours, _instance)
        batch_shape = vivace.Size(batch_shape)
        expanded = self.__dict__.copy()
        for name, constraint in self._constraints_of_values():
            value = self.__dict__[name]
            event = value.shape[value.dim() - constraint.event_dim :]
            expanded[name] = value.expand(batch_shape + event)
        for name in self._parts:
            expanded[name] = self.__dict__[name].expand(batch_shape)
        new.__dict__.update(expanded | new.__dict__)  # what a subclass has expanded itself stays
        new._batch_shape = batch_shape
        return new

    def _constraints_of_values(self):
        """Name and constraint of the parameters that are tensors of the instance."""
        found = self.arg_constraints.items()
        return [(name, c) for name, c in found if isinstance(self.__dict__.get(name), vivace.Tensor)]

    def _get_checked_instance(self, cls, _instance=None):
        """An empty instance to expand into. A subclass with an __init__ of its own has to expand itself."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return type(self).__new__(type(self))

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def arg_constraints(self):
        raise NotImplementedError

    @property
    def support(self):
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Draws, without gradients."""
        with vivace.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draws that have gradients with respect to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value):
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return vivace.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        return vivace.Size(sample_shape) + self._batch_shape + self._event_shape

    def _enumerated(self, values, expand):
        """A vector of values along a new first dimension before the batch's."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    def _validate_sample(self, value):
        if not isinstance(value, vivace.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event_dim = value.dim() - len(self._event_shape)
        if value.shape[event_dim:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self):
        values = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        shown = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in values]
        return f"{self.__class__.__name__}({', '.join(shown)})"

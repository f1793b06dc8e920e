"""StudentT(df, loc, scale)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.chi2 import Chi2
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import _standard_normal


class StudentT(Distribution):
    """Student's t with `df` degrees of freedom, moved by `loc` and scaled."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _parts = ("_chi2",)

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self._init_scalars(validate_args, df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)

    @property
    def mean(self):
        return self.loc.masked_fill(self.df <= 1, float("nan"))

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return vivace.where(df > 2, finite, vivace.where(df > 1, float("inf"), float("nan")).to(finite))

    def rsample(self, sample_shape=()):
        x = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * x * vivace.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        norm = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + vivace.lgamma(0.5 * self.df)
            - vivace.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * vivace.log1p(y**2.0 / self.df) - norm

    def entropy(self):
        log_beta = vivace.lgamma(0.5 * self.df) + math.lgamma(0.5) - vivace.lgamma(0.5 * (self.df + 1))
        slope = vivace.digamma(0.5 * (self.df + 1)) - vivace.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * slope + 0.5 * self.df.log() + log_beta

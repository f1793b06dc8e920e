"""FisherSnedecor(df1, df2)."""

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution
from vivace.distributions.gamma import Gamma


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers, each over its degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _parts = ("_gamma1", "_gamma2")

    def __init__(self, df1, df2, validate_args=None):
        self._init_scalars(validate_args, df1=df1, df2=df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)

    @property
    def mean(self):
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, float("nan"))

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, float("nan"))

    @property
    def variance(self):
        rest = self.df2 - 2
        variance = 2 * self.df2.pow(2) * (self.df1 + rest) / (self.df1 * rest.pow(2) * (self.df2 - 4))
        return variance.masked_fill(self.df2 <= 4, float("nan"))

    def rsample(self, sample_shape=()):
        above = self._gamma1.rsample(sample_shape)
        below = self._gamma2.rsample(sample_shape)
        below.detach().clamp_(min=vivace.finfo(below.dtype).tiny)
        ratio = above / below
        ratio.detach().clamp_(min=vivace.finfo(ratio.dtype).tiny)
        return ratio

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        norm = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        shape = half1 * ratio.log() + (half1 - 1) * vivace.log(value)
        return norm + shape - (half1 + half2) * vivace.log1p(ratio * value)

"""LogisticNormal(loc, scale)."""

from vivace.distributions import constraints
from vivace.distributions.normal import Normal
from vivace.distributions.transformed_distribution import TransformedDistribution
from vivace.distributions.transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """Points of the simplex, from normals by stick breaking."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self):
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.base_dist.scale

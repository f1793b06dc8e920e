"""Chi2(df)."""

from vivace.distributions import constraints
from vivace.distributions.gamma import Gamma


class Chi2(Gamma):
    """Sums of `df` squared standard normals."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _constraints_of_values(self):
        return [(name, constraints.positive) for name in Gamma.arg_constraints]

    @property
    def df(self):
        return self.concentration * 2

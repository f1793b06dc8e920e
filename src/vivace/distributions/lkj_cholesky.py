"""LKJCholesky(dim, concentration)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.beta import Beta
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import broadcast_all


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices with density in proportion to det^(concentration - 1).

    Sampled by the onion method of Lewandowski, Kurowicka and Joe (2009).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        rows = vivace.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = vivace.cat([rows.new_zeros((1,)), rows])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._beta = self._beta.expand(new._batch_shape + (self.dim,))
        return new

    def sample(self, sample_shape=()):
        with vivace.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normals = vivace.randn(shape, dtype=length.dtype, device=length.device).tril(-1)
            directions = normals / normals.norm(dim=-1, keepdim=True)
            directions[..., 0, :] = 0.0
            below = vivace.sqrt(length) * directions
            tiny = vivace.finfo(below.dtype).tiny
            return below + vivace.clamp(1 - (below**2).sum(-1), min=tiny).sqrt().diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = vivace.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        alpha = self.concentration + 0.5 * n
        norm = 0.5 * n * math.log(math.pi) + vivace.mvlgamma(alpha - 0.5, n) - vivace.lgamma(alpha) * n
        return (order * diagonal.log()).sum(-1) - norm

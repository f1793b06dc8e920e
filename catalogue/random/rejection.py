"""Random numbers by rejection: gamma, Dirichlet, Poisson and binomial. Kernels: runtime/random/.

Those with an underscore are what distributions are made of; tests/random has their tests.
"""

from catalogue.kinds import op
from codegen.expr import ops

op(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    kernel="standard_gamma",
    on_meta=True,
    grad=lambda g, self, y: g * ops._standard_gamma_grad(self, y),
    doc="Numbers from gamma distributions of rate 1, with shapes from self.",
)
op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    kernel="standard_gamma_grad",
    on_meta=True,
    doc="How a gamma number moves with its shape at a fixed quantile.",
)
op(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    kernel="sample_dirichlet",
    on_meta=True,
    grad=lambda g, self, y: ops._dirichlet_grad(y, self, self.sum(-1, True)) * (g - (y * g).sum(-1, True)),
    doc="Points of the simplex from Dirichlet distributions, with concentrations from self's last dimension.",
)
op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    kernel="dirichlet_grad",
    on_meta=True,
    doc="How a part of a Dirichlet point moves with its own concentration, over the sum of the other parts.",
)
op(
    "poisson(Tensor self, Generator? generator=None) -> Tensor",
    kernel="poisson",
    on_meta=True,
    variants="function",
    grad=lambda g: ops.zeros_like(g),
    doc="Numbers from Poisson distributions, with rates from self.",
    samples=lambda s: [s(s.t(3, 5, low=0, high=9)), s(s.t(4, 3, low=5, high=50, permuted=True)), s(s.t(0))],
)
op(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    kernel="binomial",
    on_meta=True,
    variants="function",
    doc="Numbers of successes among count trials of probability prob each.",
    samples=lambda s: [s(s.t(3, 5, low=1, high=40), s.t(3, 5, low=0, high=1))],
)

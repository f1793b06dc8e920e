"""The gamma function's relatives: polygamma, zeta, the multivariate and the incomplete gamma functions."""

from catalogue.dtypes import floating, int_to_float, single_or_double
from catalogue.kinds import binary, composite, pointwise
from catalogue.pointwise.exp_log import exp, log
from catalogue.pointwise.special import lgamma
from codegen.expr import cpp
from codegen.primitives import scalar

polygamma = pointwise(
    "polygamma(int n, Tensor self) -> Tensor",
    operands=("self",),
    out=True,
    result=int_to_float,
    dtypes=floating,
    aliases="special.polygamma",
    check="polygamma",
    kernel=lambda n, self: scalar("polygamma", n, self),
    grad=lambda g, n, self: cpp.polygamma_backward(g, n, self),
    samples=lambda s: [s(n, s.t(3, 4, low=0.2, high=6)) for n in range(5)] + [s(2, s.values(-1.5, -2.25, 30.0))],
    doc="The n-th derivative of digamma.",
)
polygamma_method = composite(
    "polygamma.method(Tensor self, int n) -> Tensor",
    body=lambda self, n: polygamma(n, self),
    variants="method",
    inplace=True,
    samples=lambda s: [s(s.t(3, 4, low=0.2, high=6), 1)],
    doc=polygamma.doc,
)
zeta = binary(
    "zeta",
    namespace="special",
    overloads={"": "TT", "other_scalar": "TS", "self_scalar": "ST"},
    inplace=False,
    result=int_to_float,
    dtypes=single_or_double,
    kernel=lambda a, b: scalar("zeta", a, b),
    grad=lambda g, a, b: (cpp.no_derivative(g, "zeta"), g * -a * zeta(a + 1, b)),
    samples=lambda s: [
        s(s.t(3, 5, low=1.1, high=9, requires_grad=False), s.t(3, 5, low=0.2, high=20)),
        s(s.values(2.0, 3.0, 4.0, 6.0, requires_grad=False), s.t(4, low=-9, high=-0.5)),
        s(2.5, s.t(4, low=0.1, high=3)),
        s(s.t(4, low=2, high=5, requires_grad=False), 1.5),
    ],
    doc="Hurwitz' zeta function: the sum of (b + k)^-a over k = 0, 1, ...",
)


def _incomplete(name, alias, which, sign, doc):
    return binary(
        name,
        overloads={"": "TT"},
        aliases=alias,
        dtypes=floating,
        kernel=lambda a, b: scalar(name, a, b),
        grad=lambda g, a, b: (
            cpp.no_derivative(g, which),
            g * (sign * exp((a - 1) * log(b) - b - lgamma(a))),
        ),
        samples=lambda s: [
            s(s.t(3, 5, low=0.1, high=9, requires_grad=False), s.t(3, 5, low=0.1, high=9)),
            s(s.values(0.5, 20.0, 200.0, requires_grad=False), s.values(0.25, 21.0, 190.0)),
        ],
        doc=doc,
    )


igamma = _incomplete(
    "igamma", "special.gammainc", "igamma: input", 1, "The regularised lower incomplete gamma function P(a, b)."
)
igammac = _incomplete(
    "igammac", "special.gammaincc", "igammac: input", -1, "The regularised upper incomplete gamma function Q(a, b)."
)
mvlgamma = composite(
    "mvlgamma(Tensor self, int p) -> Tensor",
    kernel="mvlgamma",
    aliases="special.multigammaln",
    inplace=True,
    out=True,
    samples=lambda s: [s(s.t(3, 4, low=2.5, high=9), p) for p in (1, 3, 5)] + [s(s.t(low=1, high=3), 2)],
    doc="The logarithm of the multivariate gamma function of dimension p.",
)

"""Running sums, products and extremes along a dimension."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_SAMPLES = lambda s: [s(s.t(3, 4), 1), s(s.t(3, 4), 0), s(s.t(2, 3, 4), -2), s(s.t(), 0), s(s.t(0, 3), 1)]

cumsum = op(
    "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    kernel="cumsum",
    inplace=True,
    out=True,
    linear=("self",),
    grad=lambda g, dim: cpp.cumsum_backward(g, dim),
    samples=_SAMPLES,
    doc="The sum of the elements so far.",
)
cumprod = op(
    "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    kernel="cumprod",
    inplace=True,
    out=True,
    grad=lambda g, self, y, dim: cpp.cumprod_backward(g, self, y, dim),
    samples=_SAMPLES,
    doc="The product of the elements so far.",
)
logcumsumexp = op(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    kernel="logcumsumexp",
    out=True,
    grad=lambda g, self, y, dim: cpp.logcumsumexp_backward(g, self, y, dim),
    samples=_SAMPLES,
    doc="log of the running sum of exp(x), without overflow.",
)
cummax = op(
    "cummax(Tensor self, int dim) -> (Tensor, Tensor)",
    kernel="cummax",
    out=True,
    names=("values", "indices"),
    return_type="cummax",
    nondiff=(1,),
    grad=lambda g0, y1, dim: cpp.cummax_backward(g0, y1, dim),
    samples=_SAMPLES,
    doc="The largest element so far and its index; of equals the last.",
)
cummin = op(
    "cummin(Tensor self, int dim) -> (Tensor, Tensor)",
    kernel="cummin",
    out=True,
    names=("values", "indices"),
    return_type="cummin",
    nondiff=(1,),
    grad=lambda g0, y1, dim: cpp.cummax_backward(g0, y1, dim),
    samples=_SAMPLES,
    doc="The smallest element so far and its index; of equals the last.",
)
diff = composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    kernel="diff",
    out=True,
    samples=lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 2, 0), s(s.t(5), 1, 0, s.t(2), s.t(1))],
    doc="Differences of neighbours, n times over.",
)

"""Sums, means, products and norms over dimensions."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_dims = lambda s: [s(s.t(2, 3, 4), 1), s(s.t(2, 3, 4), (0, -1)), s(s.t(3, 4), 0, True), s(s.t(), 0), s(s.t(0, 3), 0)]
_whole = lambda s: [s(s.t(3, 5)), s(s.t(4, 3, permuted=True)), s(s.t(300)), s(s.t()), s(s.t(0, 3)), s(s.ints(3, 2))]

_NORM = "Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None"

sum_ = op(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    kernel="sum",
    linear=("self",),
    grad=lambda g, self_sizes: g.expand(self_sizes),
    samples=_whole,
    doc="The sum of all elements, or over `dim`. Integers add up in int64.",
)
sum_dim = op(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="sum_dim_IntList",
    out=True,
    writes=("overlap",),
    linear=("self",),
    grad=lambda g, self_sizes, dim, keepdim: cpp.sum_backward(g, self_sizes, dim, keepdim),
    samples=_dims,
    doc=sum_.doc,
)
mean = op(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    kernel="mean",
    out=True,
    writes=("overlap",),
    linear=("self",),
    grad=lambda g, self_sizes: cpp.mean_backward(g, self_sizes),
    samples=lambda s: [s(s.t(3, 5)), s(s.t(300)), s(s.t()), s(s.t(4, 3, permuted=True))],
    doc="The mean of all elements, or over `dim`.",
)
mean_dim = op(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="mean_dim",
    out=True,
    writes=("overlap",),
    linear=("self",),
    grad=lambda g, self_sizes, dim, keepdim: cpp.mean_dim_backward(g, self_sizes, dim, keepdim),
    samples=lambda s: [s(s.t(2, 3, 4), 1), s(s.t(2, 3, 4), (0, -1)), s(s.t(3, 4), 0, True), s(s.t(), 0)],
    doc=mean.doc,
)
nansum = op(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="nansum",
    out=True,
    writes=("overlap",),
    grad=lambda g, self, dim, keepdim: cpp.nansum_backward(g, self, dim, keepdim),
    samples=lambda s: [s(s.values(1.0, float("nan"), 2.0)), s(s.t(3, 4), 1), s(s.t(3, 4), 0, True)],
    doc="sum() with NaN counted as 0.",
)
nanmean = composite(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="nanmean",
    out=True,
    samples=lambda s: [s(s.values(1.0, float("nan"), 2.0)), s(s.t(3, 4), 1), s(s.t(3, 4), 0, True)],
    doc="mean() of the elements that are not NaN.",
)

prod = op(
    "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    kernel="prod",
    autocast="float32",
    grad=lambda g, self, y: cpp.prod_backward(g, self, y),
    samples=lambda s: [s(s.t(3, 2)), s(s.t()), s(s.t(0, 3)), s(s.ints(3, low=1))],
    doc="The product of all elements, or over one dimension.",
)
prod_dim = op(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="prod_dim_int",
    out=True,
    writes=("overlap",),
    autocast="float32",
    grad=lambda g, self, y, dim, keepdim: cpp.prod_dim_backward(g, self, y, dim, keepdim),
    samples=lambda s: [s(s.t(2, 3, 4), 1), s(s.t(3, 4), 0, True), s(s.t(), 0)],
    doc=prod.doc,
)

vector_norm = op(
    f"linalg_vector_norm(Tensor self, {_NORM}) -> Tensor",
    kernel="linalg_vector_norm",
    namespace="private",
    grad=lambda g, self, y, ord, dim, keepdim: cpp.vector_norm_backward(g, self, y, ord, dim, keepdim),
    doc="(sum |x|^ord)^(1/ord) over `dim`; inf and -inf: the largest and smallest |x|; 0: how many are not 0.",
)
linalg_vector_norm = composite(
    f"vector_norm(Tensor x, {_NORM}) -> Tensor",
    kernel="vector_norm",
    out=True,
    namespace="linalg",
    samples=lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 1, 1), s(s.t(3, 4), float("inf"), (0,), True), s(s.t(3, 4), 3.0)],
    doc=vector_norm.doc,
)
norm = composite(
    "norm(Tensor self, Scalar? p=None, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor",
    kernel="norm_Scalar",
    out=True,
    samples=lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 2, 1), s(s.t(3, 4), 1, 0, True), s(s.t(3, 4), float("inf"))],
    doc="The vector norm over `dim`, or over all elements; p may be 'fro' (2) or 'nuc' (the sum of singular values).",
)
norm_str = composite(
    "norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor",
    kernel="norm_str",
    out=True,
    samples=lambda s: [s(s.t(3, 4), "fro"), s(s.t(3, 4), "fro", (0, 1))],
    doc=norm.doc,
)
logsumexp = op(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    kernel="logsumexp",
    aliases="special.logsumexp",
    out=True,
    writes=("cast", "overlap"),
    grad=lambda g, self, y, dim, keepdim: cpp.logsumexp_backward(g, self, y, dim, keepdim),
    samples=lambda s: [s(s.t(3, 4), 1), s(s.t(2, 3, 4), (0, 2), True), s(s.t(), 0)],
    doc="log(sum(exp(x))) without overflow.",
)

"""Distances between vectors: of each pair of two sets, of all pairs of one set, and what norms limit."""

from catalogue.dtypes import DTypes
from catalogue.kinds import composite, op
from catalogue.linalg.factor import constant
from codegen.expr import cpp, ops

_FLOAT: DTypes = frozenset({"Float32", "Float64"})
_ORDERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))

op(
    "_cdist_forward(Tensor x1, Tensor x2, float p) -> Tensor",
    kernel="cdist_forward",
    namespace="private",
    nodes={"": "CdistBackward0"},
    dtypes=_FLOAT,
    grad=lambda g, x1, x2, p, y, needs: cpp.cdist_backward(g, x1, x2, p, y, needs),
    fused_grad=lambda g, x1, x2, p, y, needs: cpp.cdist_backward_fused(g, x1, x2, p, y, needs),
    doc="Norms of differences; the batches of x1 and x2 are the same.",
)
op(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    kernel="euclidean_dist",
    namespace="private",
    nodes={"": "EuclideanDistBackward0"},
    dtypes=_FLOAT,
    grad=lambda g, x1, x2, y, needs: cpp.euclidean_dist_backward(g, x1, x2, y, needs),
    doc="_cdist_forward of p=2 by a product of matrices, which loses digits where vectors are close.",
)
cdist = composite(
    "cdist(Tensor x1, Tensor x2, float p=2, str? compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
    kernel="cdist",
    autocast="float32",
    dtypes=_FLOAT,
    samples=lambda s: [
        *(s(s.t(3, 4), s.t(5, 4), p) for p in _ORDERS),
        s(s.t(2, 1, 3, 4), s.t(3, 5, 4)),
        s(s.t(3, 4), s.t(5, 4), compute_mode="use_mm_for_euclid_dist"),
        s(s.t(30, 4), s.t(5, 4)),
        s(s.t(0, 4), s.t(5, 4)),
        s(s.t(3, 0), s.t(5, 0)),
    ],
    doc="The p-norm of the difference of each row of x1 and each row of x2.",
)
op(
    "_pdist_forward(Tensor self, float p) -> Tensor",
    kernel="pdist_forward",
    namespace="private",
    nodes={"": "PdistBackward0"},
    dtypes=_FLOAT,
    grad=lambda g, self, p, y: cpp.pdist_backward(g, self, p, y),
    fused_grad=lambda g, self, p, y: cpp.pdist_backward_fused(g, self, p, y),
)
pdist = composite(
    "pdist(Tensor input, float p=2) -> Tensor",
    body=lambda input, p: ops._pdist_forward(input, p),
    aliases=("nn.functional.pdist",),
    dtypes=_FLOAT,
    samples=lambda s: [*(s(s.t(4, 3), p) for p in _ORDERS), *(s(constant(s.t(*t))) for t in ((0, 3), (1, 3), (3, 0)))],
    doc="The p-norm of the difference of each pair of rows, as one vector.",
)
dist = composite(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    kernel="dist",
    samples=lambda s: [
        s(s.t(2, 3), s.t(2, 3)),
        s(s.t(2, 3), s.t(3), 1),
        s(s.t(3), s.t(3), float("inf")),
        s(s.t(), s.t()),
    ],
    doc="The p-norm of self - other.",
)
renorm = composite(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    kernel="renorm",
    inplace=True,
    out=True,
    samples=lambda s: [s(s.t(3, 4), 2, 0, 2), s(s.t(2, 3, 4), 1, -1, 5.0), s(s.t(2, 3), float("inf"), 1, 1)],
    doc="Slices along `dim` whose p-norm is more than maxnorm, scaled down to it.",
)

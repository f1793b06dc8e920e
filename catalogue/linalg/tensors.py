"""Products and systems of tensors with any number of dims."""

import numpy as np

from catalogue.dtypes import numeric
from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK, constant
from codegen.expr import cpp, ops

addr = composite(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    kernel="addr",
    inplace=True,
    out=True,
    writes=("cast",),
    samples=lambda s: [
        s(s.t(3, 4), s.t(3), s.t(4)),
        s(s.t(4), s.t(3), s.t(4), beta=0.5, alpha=2),
        s(s.t(3, 4), s.t(3), s.t(4), beta=0),
        s(s.t(0, 4), s.t(0), s.t(4)),
    ],
    doc="beta * self + alpha * outer(vec1, vec2).",
)
inner = composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    kernel="inner",
    out=True,
    ref=np.inner,
    samples=lambda s: [s(s.t(5), s.t(5)), s(s.t(2, 3, 4), s.t(5, 4)), s(s.t(), s.t(2, 3)), s(s.t(2, 0), s.t(3, 0))],
    doc="Sums of products over the last dims.",
)
kron = composite(
    "kron(Tensor self, Tensor other) -> Tensor",
    kernel="kron",
    out=True,
    writes=("cast",),
    ref=np.kron,
    samples=lambda s: [s(s.t(2, 3), s.t(3, 2)), s(s.t(3), s.t(2, 2, 2)), s(s.t(), s.t(3)), s(s.t(0, 2), s.t(3, 2))],
    doc="Kronecker's product: `other` once for each element of self, times that.",
)
tensordot = composite(
    "_tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    kernel="tensordot",
    out=True,
    samples=lambda s: [
        s(s.t(2, 3, 4), s.t(4, 3, 5), (1, 2), (1, 0)),
        s(s.t(2, 3), s.t(4), (), ()),
        s(s.t(2, 3), s.t(2, 3), (0, 1), (0, 1)),
    ],
    ref=lambda a, b, dims_a, dims_b: np.tensordot(a, b, (dims_a, dims_b)),
    doc="Sums of products over pairs of dims.",
)
vecdot = composite(
    "vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    kernel="vecdot",
    namespace="linalg",
    out=True,
    autocast="lower",
    ref=lambda x, y, dim=-1: (np.conj(x) * y).sum(dim),
    samples=lambda s: [
        s(s.t(5), s.t(5)),
        s(s.t(2, 3), s.t(3)),
        s(s.t(2, 3), s.t(2, 3), dim=0),
        s(s.t(2, 0), s.t(2, 0)),
    ],
    doc="Sums of conj(x) * y along a dim.",
)

# ---- cross product

op(
    "linalg_cross(Tensor self, Tensor other, int dim) -> Tensor",
    kernel="linalg_cross",
    namespace="private",
    dtypes=numeric,
    linear=("self", "other"),
    grad=lambda g, self, other, dim: (cpp.cross_self_backward(g, other, dim), cpp.cross_other_backward(g, self, dim)),
)
linalg_cross = composite(
    "cross.linalg(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    body=lambda self, other, dim: ops.linalg_cross(self, other, dim),
    namespace="linalg",
    variants="function",
    out=True,
    dtypes=numeric,
    ref=lambda a, b, dim=-1: np.cross(a, b, axis=dim),
    samples=lambda s: [s(s.t(4, 3), s.t(4, 3)), s(s.t(3, 1, 2), s.t(3, 4, 1), dim=0), s(s.t(0, 3), s.t(0, 3))],
    doc="The product of vectors of length 3 along `dim` that stands at right angles to both.",
)
cross = composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    kernel="cross",
    out=True,
    dtypes=numeric,
    samples=lambda s: [s(s.t(3, 4), s.t(3, 4)), s(s.t(4, 3), s.t(4, 3)), s(s.t(2, 3), s.t(2, 3), 1)],
    doc="linalg.cross() along the first dim of length 3, if none is given.",
)

# ---- chains and systems

multi_dot = composite(
    "multi_dot(Tensor[] tensors) -> Tensor",
    kernel="multi_dot",
    namespace="linalg",
    out=True,
    ref=np.linalg.multi_dot,
    samples=lambda s: [
        s([s.t(2, 3), s.t(3, 4)]),
        s([s.t(5), s.t(5, 2), s.t(2, 7)]),
        s([s.t(2, 9), s.t(9, 3), s.t(3, 8), s.t(8)]),
        s([s.t(3), s.t(3)]),
    ],
    doc="The product of two or more matrices, in the order that costs least; vectors may stand at the ends.",
)
tensorinv = composite(
    "tensorinv(Tensor self, int ind=2) -> Tensor",
    kernel="tensorinv",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=np.linalg.tensorinv,
    samples=lambda s: [s(s.t(2, 3, 6)), s(s.t(6, 2, 3), 1)],
    doc="The inverse of tensordot(self, x, ind) for x -> self.",
)
tensorsolve = composite(
    "tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    kernel="tensorsolve",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(2, 3, 6), s.t(2, 3)), s(s.t(6, 2, 3), s.t(2, 3), dims=(0,)), s(s.t(2, 2), s.t(2))],
    doc="x with tensordot(self, x, x.ndim) = other.",
)

# ---- single matrices

diagonal = composite(
    "diagonal.linalg(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    body=lambda A, offset, dim1, dim2: A.diagonal(offset, dim1, dim2),
    namespace="linalg",
    samples=lambda s: [s(s.t(2, 3, 4)), s(s.t(3, 4), offset=1), s(s.t(2, 3, 4), dim1=0, dim2=1)],
    doc="A view of the diagonals of matrices.",
)
linalg_vander = composite(
    "vander.linalg(Tensor x, *, int? N=None) -> Tensor",
    kernel="linalg_vander",
    namespace="linalg",
    samples=lambda s: [s(s.t(3)), s(s.t(2, 3), N=4), s(s.t(3), N=2), s(s.ints(3))],
    doc="Matrices whose columns are the powers of x, from 0.",
)
vander = composite(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    kernel="vander",
    ref=lambda x, N=None, increasing=False: np.vander(x, N, increasing),
    samples=lambda s: [s(constant(s.t(3))), s(constant(s.t(3)), 5), s(constant(s.t(3)), 2, True), s(constant(s.t(0)))],
    doc="A matrix whose columns are the powers of a vector, falling to 0.",
)

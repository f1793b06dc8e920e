"""Norms of matrices, and what follows from singular values: rank, condition, pseudoinverse, least squares."""

import numpy as np

from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK, constant
from codegen.expr import cpp

_PINV = "The Moore-Penrose pseudoinverse; singular values up to max(atol, rtol * the largest) count as 0."
_MATRIX_RANK = "How many singular values are above max(atol, rtol * the largest)."
_REST = "bool keepdim=False, *, ScalarType? dtype=None"

matrix_norm = composite(
    f"matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], {_REST}) -> Tensor",
    kernel="matrix_norm",
    namespace="linalg",
    variants="function",
    out=True,
    samples=lambda s: [
        s(s.t(3, 4), 1),
        s(s.t(3, 4), -1),
        s(s.t(2, 3, 4), float("inf"), (0, 2), True),
        s(s.t(3, 4), 2),
        s(s.t(2, 3, 4), -2),
    ],
    doc="Norms of matrices: 1, -1, inf, -inf (sums of columns and rows), 2, -2 (singular values), 'fro', 'nuc'.",
)
composite(
    f"matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], {_REST}) -> Tensor",
    kernel="matrix_norm_str",
    namespace="linalg",
    variants="function",
    out=True,
    samples=lambda s: [s(s.t(3, 4)), s(s.t(2, 3, 4), "nuc"), s(s.t(2, 3, 4), "fro", (0, 1), True)],
    doc=matrix_norm.doc,
)
linalg_norm = composite(
    f"norm.linalg(Tensor self, Scalar? ord=None, int[1]? dim=None, {_REST}) -> Tensor",
    kernel="linalg_norm",
    namespace="linalg",
    variants="function",
    out=True,
    samples=lambda s: [
        s(s.t(3, 4)),
        s(s.t(2, 3, 4)),
        s(s.t(3, 4), 1),
        s(s.t(7), 3),
        s(s.t(2, 3, 4), 1, (1, 2)),
        s(s.t(3, 4), 2, 1, True),
    ],
    doc="A vector norm over one dim (or of all elements without `ord`), a matrix norm over two.",
)
composite(
    f"norm.linalg_ord_str(Tensor self, str ord, int[1]? dim=None, {_REST}) -> Tensor",
    kernel="linalg_norm_str",
    namespace="linalg",
    variants="function",
    out=True,
    samples=lambda s: [s(s.t(3, 4), "fro"), s(s.t(3, 4), "nuc", (0, 1), True)],
    doc=linalg_norm.doc,
)
cond = composite(
    "cond(Tensor self, Scalar? p=None) -> Tensor",
    kernel="cond",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4)), s(constant(s.t(2, 3, 3)), 1), s(s.t(3, 3), -2)],
    doc="How much a relative change of a matrix may change the solution: norm(A) * norm(inv(A)).",
)
composite(
    "cond.p_str(Tensor self, str p) -> Tensor",
    kernel="cond_str",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(constant(s.t(3, 3)), "fro"), s(constant(s.t(2, 3, 3)), "nuc")],
    doc=cond.doc,
)

# ---- tolerances: singular values up to max(atol, rtol * largest) count as 0

op(
    "linalg_pinv(Tensor A, Tensor tolerance, bool hermitian) -> Tensor",
    kernel="linalg_pinv",
    namespace="private",
    dtypes=LAPACK,
    differentiable=("A",),
    grad=lambda g, A, y: cpp.pinv_backward(g, A, y),
    doc="The pseudoinverse; singular values up to `tolerance`, one per matrix, count as 0.",
)
composite(
    "pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    kernel="pinv_atol_rtol_tensor",
    namespace="linalg",
    variants="function",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4), rtol=constant(s.values(0.01, shape=())))],
    doc=_PINV,
)
pinv = composite(
    "pinv(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    kernel="pinv_atol_rtol",
    namespace="linalg",
    variants="function",
    out=True,
    dtypes=LAPACK,
    ref=np.linalg.pinv,
    samples=lambda s: [s(s.t(3, 4)), s(s.t(2, 4, 3)), s(s.t(0, 3, 4)), s(s.t(3, 0))],
    doc=_PINV,
)
composite(
    "pinv.rcond(Tensor self, float rcond, bool hermitian=False) -> Tensor",
    kernel="pinv_rcond",
    namespace="linalg",
    variants="function",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4), 0.01)],
    doc=_PINV,
)
pinverse = composite(
    "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    kernel="pinverse",
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4)), s(s.t(2, 4, 3))],
    doc=_PINV,
)
composite(
    "matrix_rank.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)"
    " -> Tensor",
    kernel="matrix_rank_atol_rtol_tensor",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4), rtol=constant(s.values(0.01, shape=())))],
    doc=_MATRIX_RANK,
)
matrix_rank = composite(
    "matrix_rank(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    kernel="matrix_rank",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4)), s(s.values(1.0, 2.0, 2.0, 4.0, shape=(2, 2))), s(s.t(2, 0, 3))],
    doc=_MATRIX_RANK,
)
composite(
    "matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    kernel="matrix_rank_tol_tensor",
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4), constant(s.values(0.01, shape=())))],
    doc=_MATRIX_RANK,
)
composite(
    "matrix_rank.tol(Tensor self, float tol, bool hermitian=False) -> Tensor",
    kernel="matrix_rank_tol",
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 4), 0.01)],
    doc=_MATRIX_RANK,
)

# ---- powers

matrix_power = composite(
    "matrix_power(Tensor self, int n) -> Tensor",
    kernel="matrix_power",
    aliases=("linalg.matrix_power",),
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 3), 0), s(s.t(3, 3), 1), s(s.t(2, 3, 3), 5), s(s.t(3, 3), -2)],
    doc="The n-th power of square matrices; a negative one is of the inverse.",
)

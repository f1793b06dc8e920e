"""Triangular factors of matrices: LU and Cholesky, and what LU gives at once: inverse and determinant."""

import dataclasses

import numpy as np

from catalogue.dtypes import DTypes
from catalogue.kinds import composite, op
from codegen.expr import cpp, ops

LAPACK: DTypes = frozenset({"Float32", "Float64", "Complex64", "Complex128"})


def matrices(s):
    return [s(s.t(3, 3)), s(s.t(2, 4, 4)), s(s.t(4, 4, permuted=True)), s(s.t(0, 3, 3)), s(s.t(0, 0))]


# ---- inverse

op(
    "linalg_inv_ex(Tensor A, bool check_errors) -> (Tensor, Tensor)",
    kernel="linalg_inv_ex",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1,),
    grad=lambda g0, y0: -(y0.mH @ g0 @ y0.mH),
)
inv_ex = composite(
    "inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    body=lambda A, check_errors: (ops.linalg_inv_ex(A, check_errors)[0], ops.linalg_inv_ex(A, check_errors)[1]),
    namespace="linalg",
    return_type="linalg_inv_ex",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=matrices,
    doc="The inverses of square matrices, and LAPACK's codes: not 0 where there is none.",
)
inv = composite(
    "inv(Tensor A) -> Tensor",
    body=lambda A: ops.linalg_inv_ex(A, True)[0],
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=np.linalg.inv,
    samples=matrices,
    doc="The inverses of square matrices; LinAlgError where there is none.",
)
inverse = composite(
    "inverse(Tensor self) -> Tensor",
    body=lambda self: ops.linalg_inv_ex(self, True)[0],
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=np.linalg.inv,
    samples=matrices,
    doc=inv.doc,
)

# ---- determinant

op(
    "linalg_det(Tensor A) -> Tensor",
    kernel="linalg_det",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g, A, y: cpp.det_backward(g, A, y),
)
op(
    "linalg_slogdet(Tensor A) -> (Tensor, Tensor)",
    kernel="linalg_slogdet",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g0, g1, A, y0: cpp.slogdet_backward(g0, g1, A, y0),
)
linalg_det = composite(
    "det.linalg(Tensor A) -> Tensor",
    body=lambda A: ops.linalg_det(A),
    namespace="linalg",
    out=True,
    dtypes=LAPACK,
    ref=np.linalg.det,
    samples=matrices,
    doc="The determinants of square matrices.",
)
det = composite(
    "det(Tensor self) -> Tensor",
    body=lambda self: ops.linalg_det(self),
    dtypes=LAPACK,
    ref=np.linalg.det,
    samples=matrices,
    doc=linalg_det.doc,
)
linalg_slogdet = composite(
    "slogdet.linalg(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    body=lambda A: (ops.linalg_slogdet(A)[0], ops.linalg_slogdet(A)[1]),
    namespace="linalg",
    return_type="linalg_slogdet",
    out=True,
    dtypes=LAPACK,
    ref=np.linalg.slogdet,
    samples=matrices,
    doc="The sign of the determinant, and the logarithm of its absolute value.",
)
slogdet = composite(
    "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
    body=lambda self: (ops.linalg_slogdet(self)[0], ops.linalg_slogdet(self)[1]),
    out=True,
    dtypes=LAPACK,
    ref=np.linalg.slogdet,
    samples=matrices,
    doc=linalg_slogdet.doc,
)
logdet = composite(
    "logdet(Tensor self) -> Tensor",
    kernel="logdet",
    dtypes=LAPACK,
    samples=matrices,
    doc="The logarithm of the determinant; NaN where that is negative.",
)

# ---- Cholesky


def constant(spec):
    """Without a gradient: an element that is not read has one in the mirrored place, unlike finite differences."""
    return dataclasses.replace(spec, requires_grad=False)


def positive(s):
    matrix = constant(s.values(4.0, 1.0, 1.0, 3.0, shape=(2, 2)))
    return [s(matrix), s(s.values(2.0, 9.0, shape=(2, 1, 1))), s(s.t(0, 0))]


op(
    "linalg_cholesky_ex(Tensor A, bool upper, bool check_errors) -> (Tensor, Tensor)",
    kernel="linalg_cholesky_ex",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1,),
    grad=lambda g0, y0, upper: cpp.cholesky_backward(g0, y0, upper),
)
cholesky_ex = composite(
    "cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    body=lambda self, upper, check_errors: (
        ops.linalg_cholesky_ex(self, upper, check_errors)[0],
        ops.linalg_cholesky_ex(self, upper, check_errors)[1],
    ),
    namespace="linalg",
    return_type="linalg_cholesky_ex",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=positive,
    doc="Cholesky factors, and LAPACK's codes: not 0 where a matrix is not positive definite.",
)
linalg_cholesky = composite(
    "cholesky.linalg(Tensor self, *, bool upper=False) -> Tensor",
    body=lambda self, upper: ops.linalg_cholesky_ex(self, upper, True)[0],
    namespace="linalg",
    variants="function",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=lambda a, upper=False: np.linalg.cholesky(a),
    samples=positive,
    doc="The lower (or upper) triangular factor of positive definite matrices; LinAlgError for others.",
)
cholesky = composite(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    body=lambda self, upper: ops.linalg_cholesky_ex(self, upper, True)[0],
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=positive,
    doc=linalg_cholesky.doc,
)

# ---- LU

op(
    "linalg_lu_factor_ex(Tensor A, bool pivot, bool check_errors) -> (Tensor, Tensor, Tensor)",
    kernel="linalg_lu_factor_ex",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1, 2),
    grad=lambda g0, y0, y1: cpp.lu_factor_backward(g0, y0, y1),
)
op(
    "pivots_to_permutation(Tensor pivots, int rows) -> Tensor",
    kernel="pivots_to_permutation",
    namespace="private",
    doc="The row of the product that each row of the matrix becomes.",
)
_factors = lambda A, pivot, check: tuple(ops.linalg_lu_factor_ex(A, pivot, check)[i] for i in range(3))
lu_factor_ex = composite(
    "lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    body=lambda A, pivot, check_errors: _factors(A, pivot, check_errors),
    namespace="linalg",
    return_type="linalg_lu_factor_ex",
    out=True,
    dtypes=LAPACK,
    samples=matrices,
    doc="LU factors in one matrix, LAPACK's pivots and codes.",
)
lu_factor = composite(
    "lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    body=lambda A, pivot: _factors(A, pivot, True)[:2],
    namespace="linalg",
    return_type="linalg_lu_factor",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [*matrices(s), s(s.t(2, 3, 5)), s(s.t(5, 3))],
    doc="LU factors in one matrix, and LAPACK's pivots.",
)
lu_unpack = composite(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True)"
    " -> (Tensor P, Tensor L, Tensor U)",
    kernel="lu_unpack",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 3), s.values(2, 3, 3, dtype="int32"))],
    doc="The permutation and the two triangular matrices that lu_factor packs into one.",
)
lu = composite(
    "lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    kernel="linalg_lu",
    namespace="linalg",
    return_type="linalg_lu",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [*matrices(s), s(s.t(2, 3, 5)), s(s.t(5, 3))],
    doc="A = P @ L @ U with a permutation, a lower triangular matrix of unit diagonal and an upper triangular one.",
)

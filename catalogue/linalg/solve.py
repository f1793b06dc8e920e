"""Linear systems: by LU, by triangular matrices, by factors that are known already."""

import numpy as np

from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK, constant, positive
from codegen.expr import cpp

op(
    "linalg_solve_ex(Tensor A, Tensor B, bool check_errors) -> (Tensor, Tensor)",
    kernel="linalg_solve_ex",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1,),
    grad=lambda g0, A, y0, needs: cpp.solve_backward(g0, A, y0, needs),
    doc="One or more columns B for each matrix A; their batches are the same.",
)
op(
    "linalg_solve_triangular(Tensor A, Tensor B, bool upper, bool left, bool unitriangular) -> Tensor",
    kernel="linalg_solve_triangular",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g, A, y, upper, left, unitriangular, needs: cpp.solve_triangular_backward(
        g, A, y, upper, left, unitriangular, needs
    ),
    doc="A triangular A; the batches of A and B are the same.",
)

solve_ex = composite(
    "solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    kernel="solve_ex",
    namespace="linalg",
    return_type="linalg_solve_ex",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 3), s.t(3, 2))],
    doc="solve() with LAPACK's codes, not 0 where a matrix is singular.",
)
solve = composite(
    "solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    kernel="solve",
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [
        s(s.t(3, 3), s.t(3, 2)),
        s(s.t(3, 3), s.t(3)),
        s(s.t(2, 3, 3), s.t(2, 3)),
        s(s.t(2, 1, 3, 3), s.t(4, 3, 2)),
        s(s.t(3, 3), s.t(2, 3), left=False),
        s(s.t(0, 0), s.t(0, 2)),
    ],
    doc="X with A @ X = B (or X @ A = B); LinAlgError where A is singular.",
)
solve_triangular = composite(
    "solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    kernel="solve_triangular",
    namespace="linalg",
    variants="function",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [
        s(s.t(3, 3, low=1), s.t(3, 2), upper=True),
        s(s.t(3, 3, low=1), s.t(2, 3), upper=False, left=False),
        s(s.t(2, 1, 3, 3), s.t(4, 3, 2), upper=False, unitriangular=True),
        s(s.t(0, 0), s.t(0, 2), upper=True),
    ],
    doc="X with A @ X = B (or X @ A = B) for a triangular A, whose other triangle is not read.",
)
triangular_solve = composite(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False)"
    " -> (Tensor solution, Tensor cloned_coefficient)",
    kernel="triangular_solve",
    autocast="float32",
    dtypes=LAPACK,
    out=True,
    samples=lambda s: [s(s.t(3, 2), s.t(3, 3, low=1)), s(s.t(3, 2), s.t(2, 3, 3, low=1), False, True)],
    doc="solve_triangular() in its older form, with a copy of A.",
)
cholesky_solve = composite(
    "cholesky_solve(Tensor self, Tensor L, bool upper=False) -> Tensor",
    kernel="cholesky_solve",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 2), constant(s.t(3, 3, low=1))), s(s.t(2, 3, 2), constant(s.t(3, 3, low=1)), True)],
    doc="X with A @ X = self, where A = L @ L.mH (or L.mH @ L).",
)
cholesky_inverse = composite(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    kernel="cholesky_inverse",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=lambda a, upper=False: np.linalg.inv(np.tril(a) @ np.swapaxes(np.tril(a), -1, -2).conj()),
    samples=positive,
    doc="The inverse of A = L @ L.mH (or L.mH @ L).",
)
op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, bool adjoint) -> Tensor",
    kernel="linalg_lu_solve",
    namespace="private",
    dtypes=LAPACK,
    differentiable=("LU", "B"),
    grad=lambda g, LU, pivots, y, adjoint, needs: cpp.lu_solve_backward(g, LU, pivots, y, adjoint, needs),
    doc="The batches of LU, pivots and B are the same.",
)
linalg_lu_solve = composite(
    "lu_solve.linalg(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    kernel="lu_solve_sides",
    namespace="linalg",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [
        s(s.t(3, 3, low=1), s.values(2, 3, 3, dtype="int32"), s.t(3, 2)),
        s(s.t(3, 3, low=1), s.values(2, 3, 3, dtype="int32"), s.t(2, 3), left=False, adjoint=True),
    ],
    doc="X with A @ X = B (X @ A = B, A.mH @ X = B) for the A of which lu_factor() gave LU and pivots.",
)
lu_solve = composite(
    "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    kernel="lu_solve",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 2), s.t(3, 3, low=1), s.values(2, 3, 3, dtype="int32"))],
    doc=linalg_lu_solve.doc,
)

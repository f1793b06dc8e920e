"""QR in LAPACK's packed form, whose reflectors make a unitary matrix; LDL factors; least squares."""

from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK, constant
from codegen.expr import cpp, ops

geqrf = op(
    "geqrf(Tensor self) -> (Tensor, Tensor)",
    kernel="geqrf",
    names=("a", "tau"),
    return_type="geqrf",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    grad=lambda g0: cpp.geqrf_backward(g0),
    samples=lambda s: [s(constant(s.t(3, 3))), s(constant(s.t(2, 5, 3))), s(constant(s.t(3, 5))), s(s.t(0, 3))],
    doc="QR packed: R in the upper triangle, the vectors of the reflectors that make Q below it; and their factors.",
)

# ---- the unitary matrix of reflectors

op(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    kernel="linalg_householder_product",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g, input, tau: cpp.householder_product_backward(g, input, tau),
)
_PRODUCT_SAMPLES = lambda s: [
    s(s.t(4, 3), s.t(2)),
    s(s.t(2, 4, 3), s.t(2, 3)),
    s(s.t(3, 3), s.t(0)),
    s(s.t(0, 0), s.t(0)),
]
householder_product = composite(
    "householder_product(Tensor input, Tensor tau) -> Tensor",
    body=lambda input, tau: ops.linalg_householder_product(input, tau),
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=_PRODUCT_SAMPLES,
    doc="The first columns of the product of reflectors I - tau v v.mH, whose v stand below the diagonal.",
)
orgqr = composite(
    "orgqr(Tensor self, Tensor input2) -> Tensor",
    body=lambda self, input2: ops.linalg_householder_product(self, input2),
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=_PRODUCT_SAMPLES,
    doc=householder_product.doc,
)
ormqr = op(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    kernel="ormqr",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    grad=lambda g, self, input2, input3, left, transpose, needs: cpp.ormqr_backward(
        g, self, input2, input3, left, transpose, needs
    ),
    samples=lambda s: [
        s(s.t(4, 3), s.t(3), s.t(4, 2)),
        s(s.t(2, 4, 3), s.t(2, 3), s.t(2, 2, 4), left=False),
        s(s.t(4, 3), s.t(3), s.t(4, 2), transpose=True),
        s(s.t(4, 3), s.t(3), s.t(2, 4), False, True),
    ],
    doc="A matrix times the whole product of reflectors, or its adjoint, from the left or the right.",
)

# ---- LDL

op(
    "linalg_ldl_factor_ex(Tensor self, bool hermitian, bool check_errors) -> (Tensor, Tensor, Tensor)",
    kernel="linalg_ldl_factor_ex",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1, 2),
    grad=lambda g0: cpp.ldl_factor_backward(g0),
)
_ldl = lambda self, hermitian, check: tuple(ops.linalg_ldl_factor_ex(self, hermitian, check)[i] for i in range(3))
_symmetric = lambda s: [s(constant(s.values(4.0, 1.0, 1.0, -3.0, shape=(2, 2)))), s(s.t(0, 0))]
ldl_factor_ex = composite(
    "ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False)"
    " -> (Tensor LD, Tensor pivots, Tensor info)",
    body=lambda self, hermitian, check_errors: _ldl(self, hermitian, check_errors),
    namespace="linalg",
    variants="function",
    return_type="linalg_ldl_factor_ex",
    out=True,
    dtypes=LAPACK,
    samples=_symmetric,
    doc="LDL factors of symmetric or Hermitian matrices in one matrix, LAPACK's pivots and codes.",
)
ldl_factor = composite(
    "ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    body=lambda self, hermitian: _ldl(self, hermitian, True)[:2],
    namespace="linalg",
    variants="function",
    return_type="linalg_ldl_factor",
    out=True,
    dtypes=LAPACK,
    samples=_symmetric,
    doc="LDL factors of symmetric or Hermitian matrices in one matrix, and LAPACK's pivots.",
)
op(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor",
    kernel="linalg_ldl_solve",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g: cpp.ldl_solve_backward(g),
    doc="The batches of LD, pivots and B are the same.",
)
ldl_solve = composite(
    "ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    kernel="ldl_solve",
    namespace="linalg",
    out=True,
    dtypes=LAPACK,
    samples=lambda s: [s(constant(s.t(2, 2, low=1)), s.values(1, 2, dtype="int32"), constant(s.t(2, 3)))],
    doc="X with A @ X = B for the A of which ldl_factor() gave LD and pivots.",
)

# ---- least squares

op(
    "linalg_lstsq(Tensor A, Tensor B, float rcond, str driver) -> (Tensor, Tensor, Tensor)",
    kernel="linalg_lstsq",
    namespace="private",
    dtypes=LAPACK,
    nondiff=(1, 2),
    grad=lambda g0, A, B, needs: cpp.lstsq_backward(g0, A, B, needs),
    doc="Solutions, ranks and singular values; the batches of A and B are the same.",
)
lstsq = composite(
    "lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None)"
    " -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    kernel="lstsq",
    namespace="linalg",
    variants="function",
    return_type="linalg_lstsq",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [
        s(s.t(5, 3), s.t(5, 2)),
        s(s.t(2, 5, 3), s.t(2, 5), driver="gelsd"),
        s(s.t(3, 5), s.t(3, 2), driver="gels"),
        s(s.t(5, 3), s.t(5, 2), driver="gelss"),
        s(s.t(0, 3), s.t(0, 2)),
    ],
    doc="The X of least norm for which the norm of A @ X - B is least, by LAPACK's gelsy, gels, gelsd or gelss.",
)

"""Orthogonal and spectral decompositions: QR, singular values, eigenvalues."""

import numpy as np

from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK, constant, positive
from codegen.expr import cpp, ops


def shapes(s):
    return [s(s.t(3, 3)), s(s.t(2, 3, 5)), s(s.t(5, 3, permuted=True)), s(s.t(0, 3, 2)), s(s.t(0, 0))]


# ---- QR

op(
    "linalg_qr(Tensor A, str mode) -> (Tensor, Tensor)",
    kernel="linalg_qr",
    namespace="private",
    dtypes=LAPACK,
    grad=lambda g0, g1, A, y0, y1, mode: cpp.qr_backward(g0, g1, A, y0, y1, mode),
)
linalg_qr = composite(
    "qr.linalg(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    body=lambda A, mode: (ops.linalg_qr(A, mode)[0], ops.linalg_qr(A, mode)[1]),
    namespace="linalg",
    return_type="linalg_qr",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=shapes,
    doc="A = Q @ R with orthonormal columns in Q and an upper triangular R; mode 'reduced', 'complete' or 'r'.",
)
qr = composite(
    "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    kernel="qr",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=shapes,
    doc=linalg_qr.doc,
)

# ---- singular values

op(
    "linalg_svd(Tensor A, bool full_matrices, bool vectors) -> (Tensor, Tensor, Tensor)",
    kernel="linalg_svd",
    namespace="private",
    dtypes=LAPACK,
    wants_zeros=False,
    grad=lambda g0, g1, g2, y0, y1, y2: cpp.svd_backward(g0, g1, g2, y0, y1, y2),
)
linalg_svd = composite(
    "svd.linalg(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    kernel="linalg_svd",
    namespace="linalg",
    return_type="linalg_svd",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 3), False), s(s.t(5, 3), False), s(s.t(0, 3), False)],
    doc="A = U @ diag(S) @ Vh with falling singular values.",
)
svd = composite(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    kernel="svd",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.t(3, 3)), s(s.t(5, 3)), s(s.t(5, 3), True, False)],
    doc="linalg.svd() in its older form, which gives V.",
)
svdvals = composite(
    "svdvals(Tensor A, *, str? driver=None) -> Tensor",
    kernel="svdvals",
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=lambda a: np.linalg.svd(a, compute_uv=False),
    samples=shapes,
    doc="Singular values, falling.",
)

# ---- eigenvalues

op(
    "linalg_eigh(Tensor A, str UPLO, bool vectors) -> (Tensor, Tensor)",
    kernel="linalg_eigh",
    namespace="private",
    dtypes=LAPACK,
    wants_zeros=False,
    grad=lambda g0, g1, y0, y1: cpp.eigh_backward(g0, g1, y0, y1),
)
eigh = composite(
    "eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    body=lambda A, UPLO: (ops.linalg_eigh(A, UPLO, True)[0], ops.linalg_eigh(A, UPLO, True)[1]),
    namespace="linalg",
    return_type="linalg_eigh",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=positive,
    doc="Rising eigenvalues and the eigenvectors of symmetric or Hermitian matrices, of which one triangle is read.",
)
eigvalsh = composite(
    "eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    kernel="eigvalsh",
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    ref=np.linalg.eigvalsh,
    samples=positive,
    doc="The rising eigenvalues of symmetric or Hermitian matrices.",
)
op(
    "linalg_eig(Tensor A, bool vectors) -> (Tensor, Tensor)",
    kernel="linalg_eig",
    namespace="private",
    dtypes=LAPACK,
    wants_zeros=False,
    grad=lambda g0, g1, y0, y1, A_dtype: cpp.eig_backward(g0, g1, y0, y1, A_dtype),
)
eig = composite(
    "eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    body=lambda A: (ops.linalg_eig(A, True)[0], ops.linalg_eig(A, True)[1]),
    namespace="linalg",
    return_type="linalg_eig",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(constant(s.values(4.0, 1.0, 2.0, 3.0, shape=(2, 2)))), s(s.t(0, 0))],
    doc="The eigenvalues and eigenvectors of square matrices, complex.",
)
eigvals = composite(
    "eigvals(Tensor A) -> Tensor",
    kernel="eigvals",
    namespace="linalg",
    out=True,
    autocast="float32",
    dtypes=LAPACK,
    samples=lambda s: [s(s.values(4.0, 1.0, 2.0, 3.0, shape=(2, 2))), s(s.t(0, 0))],
    doc="The eigenvalues of square matrices, complex.",
)

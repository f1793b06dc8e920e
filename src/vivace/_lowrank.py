"""Singular values of matrices of low rank, by products with a few random vectors (Halko, Martinsson and Tropp)."""

import vivace
from vivace._C import overridable


def _basis(A, q, niter):
    """Orthonormal columns that span nearly what A's largest singular vectors do."""
    Q = vivace.linalg.qr(A @ vivace.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)).Q
    for _ in range(niter):
        Q = vivace.linalg.qr(A.mH @ Q).Q
        Q = vivace.linalg.qr(A @ Q).Q
    return Q


@overridable
def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S, V of about the q largest singular values of A (of A - M)."""
    if M is not None:
        A = A - M
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A = A.mH
    Q = _basis(A, q, niter)
    U, S, Vh = vivace.linalg.svd(Q.mH @ A, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


@overridable
def pca_lowrank(A, q=None, center=True, niter=2):
    """The q principal components of A's rows: svd_lowrank() of A without the mean of each column."""
    smaller = min(A.shape[-2:])
    q = min(6, smaller) if q is None else q
    if not 0 <= q <= smaller:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={smaller}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)

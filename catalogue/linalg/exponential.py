"""The exponential of matrices."""

from catalogue.dtypes import DTypes
from catalogue.kinds import composite, op
from catalogue.linalg.factor import LAPACK
from codegen.expr import cpp

_DTYPES: DTypes = LAPACK | {"Float16", "BFloat16"}

op(
    "linalg_matrix_exp(Tensor self) -> Tensor",
    kernel="linalg_matrix_exp",
    namespace="private",
    dtypes=_DTYPES,
    grad=lambda g, self: cpp.matrix_exp_backward(g, self),
)
matrix_exp = composite(
    "matrix_exp(Tensor self) -> Tensor",
    kernel="matrix_exp",
    aliases=("linalg.matrix_exp",),
    dtypes=_DTYPES,
    samples=lambda s: [s(s.t(3, 3)), s(s.t(2, 4, 4, low=-0.1, high=0.1)), s(s.t(0, 3, 3)), s(s.t(0, 0)), s(s.t(1, 1))],
    doc="The sum of A^k / k! over all k, of square matrices.",
)

"""Products of vectors, matrices and batches of matrices."""

import numpy as np

from catalogue.kinds import composite, op
from codegen.expr import cpp

mm = op(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    kernel="mm",
    out=True,
    autocast="lower",
    linear=("self", "mat2"),
    grad=lambda g, self, mat2: (cpp.times_adjoint(g, mat2), cpp.adjoint_times(self, g)),
    ref=np.matmul,
    samples=lambda s: [
        s(s.t(3, 4), s.t(4, 5)),
        s(s.t(4, 3, permuted=True), s.t(3, 5)),
        s(s.t(3, 4), s.t(4, 5, permuted=True)),
        s(s.t(40, 50), s.t(50, 30)),
        s(s.t(0, 4), s.t(4, 5)),
        s(s.t(3, 0), s.t(0, 5)),
        s(s.ints(3, 4), s.ints(4, 2)),
    ],
    doc="The product of two matrices.",
)

bmm = op(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    kernel="bmm",
    out=True,
    autocast="lower",
    linear=("self", "mat2"),
    grad=lambda g, self, mat2: (cpp.times_adjoint(g, mat2), cpp.adjoint_times(self, g)),
    ref=np.matmul,
    samples=lambda s: [
        s(s.t(2, 3, 4), s.t(2, 4, 5)),
        s(s.t(2, 3, 4, permuted=True), s.t(2, 4, 5)),
        s(s.t(0, 3, 4), s.t(0, 4, 5)),
    ],
    doc="The products of two batches of matrices.",
)

mv = op(
    "mv(Tensor self, Tensor vec) -> Tensor",
    kernel="mv",
    out=True,
    linear=("self", "vec"),
    grad=lambda g, self, vec: (cpp.mv_self_backward(g, vec), cpp.mv_vec_backward(g, self)),
    ref=np.matmul,
    samples=lambda s: [s(s.t(3, 4), s.t(4)), s(s.t(4, 3, permuted=True), s.t(3)), s(s.t(3, 0), s.t(0))],
    doc="The product of a matrix and a vector.",
)

dot = op(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    kernel="dot",
    out=True,
    linear=("self", "tensor"),
    grad=lambda g, self, tensor: (cpp.times_conj(g, tensor), cpp.times_conj(g, self)),
    ref=np.dot,
    samples=lambda s: [s(s.t(5), s.t(5)), s(s.t(100), s.t(100)), s(s.t(0), s.t(0))],
    doc="The sum of the products of two vectors.",
)

vdot = op(
    "vdot(Tensor self, Tensor other) -> Tensor",
    kernel="vdot",
    out=True,
    linear=("self", "other"),
    grad=lambda g, self, other: (cpp.conj_times(g, other), g * self),
    ref=np.vdot,
    samples=lambda s: [s(s.t(5), s.t(5)), s(s.t(5, dtype="complex128"), s.t(5, dtype="complex128"))],
    doc="The dot product with the conjugate of the first vector.",
)

addmm = op(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    kernel="addmm",
    inplace=True,
    out=True,
    autocast="lower",
    grad=lambda g, mat1, mat2, beta, alpha: (
        cpp.scaled(g, beta),
        cpp.scaled_times_adjoint(g, mat2, alpha),
        cpp.scaled_adjoint_times(mat1, g, alpha),
    ),
    samples=lambda s: [
        s(s.t(3, 5), s.t(3, 4), s.t(4, 5)),
        s(s.t(5), s.t(3, 4), s.t(4, 5), beta=0.5, alpha=2),
        s(s.t(3, 5), s.t(3, 4), s.t(4, 5), beta=0),
        s(s.t(3, 5), s.t(3, 0), s.t(0, 5)),
    ],
    doc="beta * self + alpha * (mat1 @ mat2).",
)

addmv = op(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    kernel="addmv",
    inplace=True,
    out=True,
    grad=lambda g, mat, vec, beta, alpha: (
        cpp.scaled(g, beta),
        cpp.addmv_mat_backward(g, vec, alpha),
        cpp.addmv_vec_backward(g, mat, alpha),
    ),
    samples=lambda s: [s(s.t(3), s.t(3, 4), s.t(4)), s(s.t(), s.t(3, 4), s.t(4), beta=0.5, alpha=2)],
    doc="beta * self + alpha * (mat @ vec).",
)

baddbmm = op(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    kernel="baddbmm",
    inplace=True,
    out=True,
    autocast="lower",
    grad=lambda g, batch1, batch2, beta, alpha: (
        cpp.scaled(g, beta),
        cpp.scaled_times_adjoint(g, batch2, alpha),
        cpp.scaled_adjoint_times(batch1, g, alpha),
    ),
    samples=lambda s: [
        s(s.t(2, 3, 5), s.t(2, 3, 4), s.t(2, 4, 5)),
        s(s.t(3, 1), s.t(2, 3, 4), s.t(2, 4, 5), beta=0.5, alpha=2),
    ],
    doc="beta * self + alpha * (batch1 @ batch2).",
)

addbmm = op(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    kernel="addbmm",
    inplace=True,
    out=True,
    autocast="lower",
    grad=lambda g, batch1, batch2, beta, alpha: (
        cpp.scaled(g, beta),
        cpp.addbmm_batch1_backward(g, batch2, alpha),
        cpp.addbmm_batch2_backward(g, batch1, alpha),
    ),
    samples=lambda s: [
        s(s.t(3, 5), s.t(2, 3, 4), s.t(2, 4, 5)),
        s(s.t(5), s.t(2, 3, 4), s.t(2, 4, 5), beta=0.5, alpha=2),
    ],
    doc="beta * self + alpha * the sum of the products of a batch.",
)

matmul = composite(
    "matmul(Tensor self, Tensor other) -> Tensor",
    kernel="matmul",
    operator="@",
    out=True,
    aliases=("linalg.matmul",),
    autocast="lower",
    ref=np.matmul,
    samples=lambda s: [
        s(s.t(4, 4), s.t(4, 4)),
        s(s.t(3), s.t(3)),
        s(s.t(2, 3), s.t(3)),
        s(s.t(3), s.t(3, 2)),
        s(s.t(2, 3, 4), s.t(4, 5)),
        s(s.t(2, 3, 4), s.t(4)),
        s(s.t(4), s.t(2, 4, 5)),
        s(s.t(2, 1, 3, 4), s.t(3, 4, 5)),
    ],
    doc="The product of two tensors by the rules of NumPy's matmul.",
)

outer = composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    kernel="outer",
    out=True,
    writes=("cast",),
    aliases=("ger",),
    ref=np.outer,
    samples=lambda s: [s(s.t(3), s.t(4)), s(s.t(0), s.t(4))],
    doc="All products of an element of one vector with an element of the other.",
)

einsum = composite(
    "_einsum(str equation, Tensor[] operands) -> Tensor",
    kernel="einsum",
    ref=lambda equation, operands: np.einsum(equation, *operands),
    samples=lambda s: [
        s("ij,jk->ik", [s.t(2, 3), s.t(3, 4)]),
        s("bij,bjk->bik", [s.t(2, 3, 4), s.t(2, 4, 5)]),
        s("ii->i", [s.t(3, 3)]),
        s("i,j", [s.t(3), s.t(4)]),
        s("...ij->...ji", [s.t(2, 3, 4)]),
        s("ij->", [s.t(3, 4)]),
    ],
    doc="Sums of products over named dims, in Einstein's notation.",
)

linear = op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    kernel="linear",
    out=True,
    namespace="nn.functional",
    autocast="lower",
    linear=("input", "weight"),
    grad=lambda g, input, weight: (
        cpp.linear_input_backward(g, weight),
        cpp.linear_weight_backward(g, input),
        cpp.linear_bias_backward(g),
    ),
    samples=lambda s: [
        s(s.t(4, 3), s.t(5, 3), s.t(5)),
        s(s.t(4, 3), s.t(5, 3)),
        s(s.t(2, 4, 3), s.t(5, 3), s.t(5)),
        s(s.t(3), s.t(5, 3), s.t(5)),
        s(s.t(0, 3), s.t(5, 3), s.t(5)),
        s(s.t(64, 40), s.t(50, 40), s.t(50)),
    ],
    doc="input @ weight.T + bias over the last dim.",
)

"""Triangles and diagonals of matrices."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

for _name, _doc in (("tril", "lower"), ("triu", "upper")):
    op(
        f"{_name}(Tensor self, int diagonal=0) -> Tensor",
        kernel=_name,
        alias_safe=True,
        inplace=True,
        out=True,
        linear=("self",),
        grad=(lambda g, diagonal: g.tril(diagonal)) if _name == "tril" else (lambda g, diagonal: g.triu(diagonal)),
        samples=lambda s: [s(s.t(3, 4)), s(s.t(4, 3), 1), s(s.t(2, 3, 3), -1), s(s.t(3, 4, permuted=True))],
        doc=f"The {_doc} triangle of matrices, up to a diagonal; zeros elsewhere.",
    )
trace = op(
    "trace(Tensor self) -> Tensor",
    kernel="trace",
    autocast="float32",
    linear=("self",),
    grad=lambda g, self_sizes: cpp.trace_backward(g, self_sizes),
    samples=lambda s: [s(s.t(3, 3)), s(s.t(2, 4)), s(s.ints(3, 3))],
    doc="The sum of the diagonal.",
)
diag = composite(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    kernel="diag",
    out=True,
    samples=lambda s: [s(s.t(3)), s(s.t(3), 1), s(s.t(3, 4)), s(s.t(3, 4), -1)],
    doc="A vector as the diagonal of a matrix, or the diagonal of a matrix.",
)
diag_embed = composite(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    kernel="diag_embed",
    samples=lambda s: [s(s.t(3)), s(s.t(2, 3), 1), s(s.t(2, 3), 0, 0, 2)],
    doc="Matrices whose diagonals are the last dimension.",
)
diagflat = composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    kernel="diagflat",
    samples=lambda s: [s(s.t(2, 2)), s(s.t(3), -1)],
    doc="A matrix with all elements on its diagonal.",
)

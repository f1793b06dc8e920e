"""Reductions over "is it zero"."""

from catalogue.kinds import op

_ONE = lambda s: [s(s.mask(3, 4), 1), s(s.mask(3, 4), 0, True), s(s.t(2, 3), -1), s(s.mask(), 0), s(s.mask(0, 3), 0)]
_MANY = lambda s: [s(s.mask(2, 3, 4), (0, 2)), s(s.mask(3, 4), (1,), True)]

for _name, _doc in (
    ("all", "Whether all elements (over `dim`) are true."),
    ("any", "Whether any element (over `dim`) is true."),
):
    op(
        f"{_name}(Tensor self) -> Tensor",
        kernel=_name,
        out=True,
        writes=("overlap",),
        samples=lambda s: [s(s.mask(3, 4)), s(s.t(3)), s(s.mask(0)), s(s.ints(3, dtype="uint8"))],
        doc=_doc,
    )
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        kernel=f"{_name}_dim",
        out=True,
        writes=("overlap",),
        samples=_ONE,
        doc=_doc,
    )
    op(
        f"{_name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        kernel=f"{_name}_dims",
        out=True,
        writes=("overlap",),
        samples=_MANY,
        doc=_doc,
    )

count_nonzero_dims = op(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    kernel="count_nonzero_dim_IntList",
    samples=lambda s: [s(s.mask(2, 3, 4), (0, 2))],
    doc="How many elements are not 0, over all or over `dim`.",
)
count_nonzero = op(
    "count_nonzero(Tensor self, int? dim=None) -> Tensor",
    kernel="count_nonzero",
    samples=lambda s: [s(s.mask(3, 4)), s(s.ints(3, 4, high=2), 1), s(s.mask(0, 3), 0)],
    doc=count_nonzero_dims.doc,
)

"""Reading and writing through an index tensor along one dimension: gather and the scatter family."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_INDEX = "int dim, Tensor index"


def _into(s, *rest, **kwargs):
    """Samples that write to a 3 x 5 tensor through a 2 x 4 index."""
    return [
        s(s.t(3, 5), 0, s.ints(2, 4, high=3), *rest, **kwargs),
        s(s.t(3, 5), 1, s.ints(2, 4, high=5), *rest, **kwargs),
    ]


gather = op(
    f"gather(Tensor self, {_INDEX}, *, bool sparse_grad=False) -> Tensor",
    kernel="gather",
    out=True,
    linear=("self",),
    grad=lambda g, self_sizes, dim, index: (cpp.gather_backward(g, self_sizes, dim, index), None),
    samples=lambda s: [*_into(s), s(s.t(), 0, s.ints(high=1)), s(s.t(3, 2), -1, s.ints(0, 2))],
    doc="out[i][j] = self[index[i][j]][j] for dim 0, and likewise for other dimensions.",
)
scatter_src = op(
    f"scatter.src(Tensor self, {_INDEX}, Tensor src) -> Tensor",
    kernel="scatter_src",
    alias_safe=True,
    inplace=True,
    out=True,
    grad=lambda g, dim, index: (cpp.scatter_backward(g, dim, index), None, g.gather(dim, index)),
    samples=lambda s: [s(s.t(3, 5), 1, s.values(0, 4, 1, 3, 2, 0, dtype="int64", shape=(2, 3)), s.t(2, 3))],
    doc="self[index[i][j]][j] = src[i][j] for dim 0, and likewise for other dimensions; src may be a number.",
)
scatter_value = op(
    f"scatter.value(Tensor self, {_INDEX}, Scalar value) -> Tensor",
    kernel="scatter_value",
    alias_safe=True,
    inplace=True,
    out=True,
    grad=lambda g, dim, index: (cpp.scatter_backward(g, dim, index), None),
    samples=lambda s: _into(s, 1.5),
    doc=scatter_src.doc,
)
scatter_reduce = op(
    f"scatter.reduce(Tensor self, {_INDEX}, Tensor src, *, str reduce) -> Tensor",
    kernel="scatter_reduce",
    alias_safe=True,
    inplace=True,
    out=True,
    samples=lambda s: [s(s.ints(3, 5), 1, s.ints(2, 4, high=5), s.ints(2, 4), reduce="add")],
    doc=scatter_src.doc,
)
scatter_value_reduce = op(
    f"scatter.value_reduce(Tensor self, {_INDEX}, Scalar value, *, str reduce) -> Tensor",
    kernel="scatter_value_reduce",
    alias_safe=True,
    inplace=True,
    out=True,
    samples=lambda s: [s(s.ints(3, 5), 1, s.ints(2, 4, high=5), 2, reduce="multiply")],
    doc=scatter_src.doc,
)
scatter_add = op(
    f"scatter_add(Tensor self, {_INDEX}, Tensor src) -> Tensor",
    kernel="scatter_add",
    alias_safe=True,
    inplace=True,
    out=True,
    grad=lambda g, dim, index: (g, None, g.gather(dim, index)),
    samples=lambda s: _into(s, s.t(2, 4)),
    doc="self[index[i][j]][j] += src[i][j] for dim 0, and likewise for other dimensions, in order.",
)
scatter_reduce_two = op(
    f"scatter_reduce.two(Tensor self, {_INDEX}, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    kernel="scatter_reduce_two",
    alias_safe=True,
    inplace=True,
    out=True,
    grad=lambda g, self, dim, index, src, reduce, include_self, y, needs: cpp.scatter_reduce_backward(
        g, self, dim, index, src, reduce, include_self, y, needs
    ),
    samples=lambda s: [
        x for how in ("sum", "prod", "mean", "amax", "amin") for x in _into(s, s.t(2, 4), how, include_self=False)
    ],
    doc="Reduces what is scattered to one place by sum, prod, mean, amax or amin, self included if asked for.",
)
take_along_dim = composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    kernel="take_along_dim",
    out=True,
    samples=lambda s: [s(s.t(3, 4), s.ints(3, 1, high=4), 1), s(s.t(3, 4), s.ints(5, high=12))],
    doc="gather() that broadcasts; without dim, of the flattened tensors.",
)

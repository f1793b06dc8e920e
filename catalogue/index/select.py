"""Advanced indexing, and indexing along one dimension or by flat position."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_VECTOR = lambda s: s.values(0, 2, dtype="int64")

index = op(
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    kernel="index_Tensor",
    on_meta=True,
    namespace="private",
    linear=("self",),
    grad=lambda g, self_sizes, indices: cpp.index_backward(g, self_sizes, indices),
    doc="What stands between brackets: integer tensors and masks, broadcast together; None keeps a dimension.",
)
index_put = op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    kernel="index_put",
    alias_safe=True,
    inplace=True,
    grad=lambda g, indices, accumulate: (cpp.index_put_backward(g, indices, accumulate), g.index(indices)),
    samples=lambda s: [
        s(s.t(4, 3), (s.values(0, 2, dtype="int64"),), s.t(2, 3)),
        s(s.t(4, 3), (s.values(0, 0, dtype="int64"), s.values(1, 1, dtype="int64")), s.t(2), True),
    ],
    doc="self[indices] = values, or += for accumulate.",
)
index_select = op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    kernel="index_select",
    out=True,
    linear=("self",),
    grad=lambda g, self_sizes, dim, index: (cpp.index_select_backward(g, self_sizes, dim, index), None),
    samples=lambda s: [
        s(s.t(3, 4), 0, _VECTOR(s)),
        s(s.t(3, 4), -1, _VECTOR(s)),
        s(s.t(), 0, s.values(0, dtype="int64")),
    ],
    doc="The slices of a dimension that a vector of indices names.",
)
index_add = op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    kernel="index_add",
    alias_safe=True,
    inplace=True,
    out=True,
    grad=lambda g, dim, index, source, alpha: (g, None, cpp.index_add_source_backward(g, dim, index, source, alpha)),
    samples=lambda s: [
        s(s.t(3, 4), 0, _VECTOR(s), s.t(2, 4)),
        s(s.t(3, 4), 1, s.values(1, 1, dtype="int64"), s.t(3, 2), alpha=2),
    ],
    doc="Adds alpha times the slices of source to those that index names.",
)
index_copy = op(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    kernel="index_copy",
    alias_safe=True,
    inplace=True,
    out=True,
    autocast="promote",
    grad=lambda g, dim, index, source: (
        cpp.index_fill_self_backward(g, dim, index),
        None,
        cpp.index_copy_source_backward(g, dim, index, source),
    ),
    samples=lambda s: [s(s.t(3, 4), 0, _VECTOR(s), s.t(2, 4)), s(s.t(3, 4), 1, _VECTOR(s), s.t(3, 2))],
    doc="Overwrites the slices that index names by those of source.",
)
index_fill = op(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    kernel="index_fill_int_Scalar",
    alias_safe=True,
    inplace=True,
    grad=lambda g, dim, index: (cpp.index_fill_self_backward(g, dim, index), None),
    samples=lambda s: [s(s.t(3, 4), 0, _VECTOR(s), 1.5), s(s.t(3, 4), 1, s.values(-1, dtype="int64"), 2)],
    doc="Overwrites the slices that index names by one value.",
)
index_fill_tensor = op(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    kernel="index_fill_int_Tensor",
    alias_safe=True,
    inplace=True,
    grad=lambda g, dim, index: (
        cpp.index_fill_self_backward(g, dim, index),
        None,
        cpp.index_fill_value_backward(g, dim, index),
    ),
    samples=lambda s: [s(s.t(3, 4), 0, _VECTOR(s), s.t())],
    doc=index_fill.doc,
)
take = op(
    "take(Tensor self, Tensor index) -> Tensor",
    kernel="take",
    out=True,
    linear=("self",),
    grad=lambda g, self_sizes, index: (cpp.take_backward(g, self_sizes, index), None),
    samples=lambda s: [s(s.t(3, 4), s.values(0, 11, -2, 0, dtype="int64", shape=(2, 2)))],
    doc="The elements at positions of the flattened tensor.",
)
put = op(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    kernel="put",
    alias_safe=True,
    inplace=True,
    grad=lambda g, index, source, accumulate: (
        cpp.put_self_backward(g, index, source, accumulate),
        None,
        cpp.put_source_backward(g, index, source),
    ),
    samples=lambda s: [
        s(s.t(3, 4), s.values(0, 11, 5, dtype="int64"), s.t(3)),
        s(s.t(3, 4), s.values(1, 1, dtype="int64"), s.t(2), True),
    ],
    doc="Writes source to positions of the flattened tensor.",
)

masked_select = op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    kernel="masked_select",
    structured=False,
    out=True,
    linear=("self",),
    grad=lambda g, self, mask: (cpp.masked_select_backward(g, self, mask), None),
    samples=lambda s: [s(s.t(3, 4), s.mask(3, 4)), s(s.t(3, 4), s.mask(4))],
    doc="The elements where the mask is true, in one dimension.",
)
masked_scatter = op(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    kernel="masked_scatter",
    inplace=True,
    grad=lambda g, mask, source_sizes: (
        g.masked_fill(mask, 0),
        None,
        cpp.masked_scatter_source_backward(g, mask, source_sizes),
    ),
    samples=lambda s: [s(s.t(3, 4), s.mask(3, 4), s.t(12)), s(s.t(3, 4), s.mask(4), s.t(12))],
    doc="Overwrites the elements where the mask is true by those of source, one after the other.",
)
nonzero = op(
    "nonzero(Tensor self) -> Tensor",
    kernel="nonzero",
    structured=False,
    out=True,
    samples=lambda s: [s(s.ints(3, 4, high=2)), s(s.t(5)), s(s.mask(0, 2)), s(s.ints(high=2))],
    doc="Coordinates of the elements that are not 0, a row each.",
)
nonzero_as_tuple = composite(
    "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Object",
    kernel="nonzero_as_tuple",
    samples=lambda s: [s(s.ints(3, 4, high=2), as_tuple=True), s(s.ints(3, 4, high=2), as_tuple=False)],
    doc="With as_tuple=True one index tensor a dimension, else nonzero().",
)
argwhere = composite(
    "argwhere(Tensor self) -> Tensor",
    kernel="argwhere",
    samples=lambda s: [s(s.ints(3, 4, high=2)), s(s.ints(5, high=2))],
    doc="Coordinates of the elements that are not 0, a row each.",
)
where_condition = composite(
    "where(Tensor condition) -> Tensor[]",
    kernel="where_condition",
    variants="function",
    samples=lambda s: [s(s.ints(3, 4, high=2))],
    doc="Index tensors of the elements that are not 0; with two more arguments, an elementwise choice.",
)

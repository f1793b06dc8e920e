"""Views that are copied at once, pieces that share memory without being views, and copies with a part replaced."""

from catalogue.kinds import composite, op
from codegen.expr import cpp, ops

dense_copy = composite(
    "_dense_copy(Tensor self) -> Tensor",
    kernel="dense_copy",
    namespace="private",
    doc="A row-major copy.",
)


def _copy(name, args, body, samples, variants="function", overload=""):
    view = name.removesuffix("_copy")
    return composite(
        f"{name}{overload}(Tensor self{args}) -> Tensor",
        body=body,
        out=True,
        variants=variants,
        samples=samples,
        doc=f"A copy of what {view}() shows.",
    )


_MATRIX = lambda s: [s(s.t(3, 4)), s(s.t(4, 3, permuted=True))]
_copy("alias_copy", "", lambda self: ops._dense_copy(self), _MATRIX)
_copy("detach_copy", "", lambda self: ops._dense_copy(self.detach()), _MATRIX)
_copy("t_copy", "", lambda self: ops._dense_copy(self.t()), _MATRIX)
_copy(
    "transpose_copy",
    ", int dim0, int dim1",
    lambda self, dim0, dim1: ops._dense_copy(self.transpose(dim0, dim1)),
    lambda s: [s(s.t(2, 3, 4), 0, 2)],
    overload=".int",
)
_copy(
    "permute_copy",
    ", int[] dims",
    lambda self, dims: ops._dense_copy(self.permute(dims)),
    lambda s: [s(s.t(2, 3, 4), (2, 0, 1))],
)
_copy("squeeze_copy", "", lambda self: ops._dense_copy(self.squeeze()), lambda s: [s(s.t(1, 3, 1))])
_copy(
    "squeeze_copy",
    ", int dim",
    lambda self, dim: ops._dense_copy(self.squeeze(dim)),
    lambda s: [s(s.t(1, 3, 1), 0)],
    overload=".dim",
)
_copy(
    "squeeze_copy",
    ", int[] dim",
    lambda self, dim: ops._dense_copy(self.squeeze(dim)),
    lambda s: [s(s.t(1, 3, 1), (0, 2))],
    overload=".dims",
)
_copy(
    "unsqueeze_copy",
    ", int dim",
    lambda self, dim: ops._dense_copy(self.unsqueeze(dim)),
    lambda s: [s(s.t(2, 3), 1)],
)
_copy(
    "expand_copy",
    ", int[] size, *, bool implicit=False",
    lambda self, size, implicit: ops._dense_copy(self.expand(size, implicit=implicit)),
    lambda s: [s(s.t(3, 1), (2, 3, 4))],
)
_copy(
    "view_copy",
    ", int[] size",
    lambda self, size: ops._dense_copy(self.view(size)),
    lambda s: [s(s.t(2, 6), (3, -1))],
)
_copy(
    "view_copy",
    ", ScalarType dtype",
    lambda self, dtype: ops._dense_copy(self.view(dtype)),
    lambda s: [s(s.ints(2, 4, dtype="int32"), "int16")],
    overload=".dtype",
)
_copy(
    "as_strided_copy",
    ", int[] size, int[] stride, int? storage_offset=None",
    lambda self, size, stride, storage_offset: ops._dense_copy(self.as_strided(size, stride, storage_offset)),
    lambda s: [s(s.t(6), (2, 2), (1, 2), 1)],
)
_copy(
    "diagonal_copy",
    ", int offset=0, int dim1=0, int dim2=1",
    lambda self, offset, dim1, dim2: ops._dense_copy(self.diagonal(offset, dim1, dim2)),
    lambda s: [s(s.t(3, 4)), s(s.t(2, 3, 4), 1, 1, 2)],
)
_copy(
    "select_copy",
    ", int dim, int index",
    lambda self, dim, index: ops._dense_copy(self.select(dim, index)),
    lambda s: [s(s.t(2, 3), -1, 1)],
    overload=".int",
)
_copy(
    "slice_copy",
    ", int dim=0, int? start=None, int? end=None, int step=1",
    lambda self, dim, start, end, step: ops._dense_copy(self.slice(dim, start, end, step)),
    lambda s: [s(s.t(5, 3), 0, 1, None, 2)],
    overload=".Tensor",
)
_copy(
    "narrow_copy",
    ", int dim, int start, int length",
    lambda self, dim, start, length: ops._dense_copy(self.narrow(dim, start, length)),
    lambda s: [s(s.t(5, 3), 0, 1, 3)],
    variants="function, method",
)
_copy(
    "unfold_copy",
    ", int dimension, int size, int step",
    lambda self, dimension, size, step: ops._dense_copy(self.unfold(dimension, size, step)),
    lambda s: [s(s.t(7), 0, 3, 2)],
)
_copy(
    "view_as_real_copy",
    "",
    lambda self: ops._dense_copy(self.view_as_real()),
    lambda s: [s(s.t(2, 3, dtype="complex64"))],
)
_copy(
    "view_as_complex_copy",
    "",
    lambda self: ops._dense_copy(self.view_as_complex()),
    lambda s: [s(s.t(2, 3, 2, requires_grad=False))],
)
for _name, _args, _sample in (
    ("unbind_copy.int", "int dim=0", ()),
    ("split_copy.Tensor", "int split_size, int dim=0", (2,)),
    ("split_with_sizes_copy", "int[] split_sizes, int dim=0", ([2, 3],)),
):
    composite(
        f"{_name}(Tensor self, {_args}) -> Tensor[]",
        kernel=_name.partition(".")[0],
        variants="function",
        samples=lambda s, sample=_sample: [s(s.t(5, 3), *sample)],
        doc=f"Copies of what {_name.partition('_copy')[0]}() shows.",
    )

for _name, _args, _sample in (
    ("unsafe_chunk", "int chunks, int dim=0", (2,)),
    ("unsafe_split.Tensor", "int split_size, int dim=0", (2,)),
    ("unsafe_split_with_sizes", "int[] split_sizes, int dim=0", ([2, 3],)),
):
    op(
        f"{_name}(Tensor self, {_args}) -> Tensor[]",
        kernel=_name.partition(".")[0],
        device_neutral=True,
        linear=("self",),
        grad=lambda g, dim: cpp.split_backward(g, dim),
        samples=lambda s, sample=_sample: [s(s.t(5, 3), *sample)],
        doc=f"{_name.removeprefix('unsafe_').partition('.')[0]}() into pieces that autograd takes for no views.",
    )

select_scatter = composite(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    kernel="select_scatter",
    samples=lambda s: [s(s.t(3, 4), s.t(4), 0, 1), s(s.t(3, 4), s.t(3), -1, -2)],
    doc="A copy of self in which src stands where select() looks.",
)
slice_scatter = composite(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    kernel="slice_scatter",
    out=True,
    samples=lambda s: [s(s.t(5, 3), s.t(2, 3), 0, 1, 4, 2), s(s.t(5, 3), s.t(5, 1), 1, -1)],
    doc="A copy of self in which src stands where slicing looks.",
)
diagonal_scatter = composite(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    kernel="diagonal_scatter",
    samples=lambda s: [s(s.t(3, 4), s.t(3)), s(s.t(3, 4), s.t(2), -1)],
    doc="A copy of self in which src stands where diagonal() looks.",
)

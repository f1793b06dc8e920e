"""Views of a part: select, slice, the split family, diagonal, windows; and the backwards that put a part back."""

from catalogue.kinds import composite, op, view
from codegen.expr import cpp

select = view(
    "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
    kernel="select_int",
    grad=lambda g, self_sizes, dim, index: g.select_backward(self_sizes, dim, index),
    samples=lambda s: [s(s.t(2, 3), 0, 1), s(s.t(2, 3, 4), -1, -2), s(s.t(3), 0, 0)],
    doc="A view of one index of a dimension.",
)
select_backward = op(
    "select_backward(Tensor self, int[] input_sizes, int dim, int index) -> Tensor",
    kernel="select_backward",
    structured=True,
    device_neutral=True,
    namespace="private",
    linear=("self",),
    grad=lambda g, dim, index: g.select(dim, index),
    doc="Zeros of input_sizes with the gradient at one index.",
)
slice_ = view(
    "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    kernel="slice_Tensor",
    namespace="private",
    grad=lambda g, self_sizes, dim, start, end, step: g.slice_backward(self_sizes, dim, start, end, step),
    doc="A view of every step-th index from start to end.",
)
slice_backward = op(
    "slice_backward(Tensor self, int[] input_sizes, int dim, int? start, int? end, int step) -> Tensor",
    kernel="slice_backward",
    structured=True,
    device_neutral=True,
    namespace="private",
    linear=("self",),
    grad=lambda g, dim, start, end, step: g.slice(dim, start, end, step),
    doc="Zeros of input_sizes with the gradient in the slice.",
)
narrow = view(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    kernel="narrow",
    grad=lambda g, self_sizes, dim, start, length: cpp.narrow_backward(g, self_sizes, dim, start, length),
    nodes={"": "SliceBackward0"},
    samples=lambda s: [s(s.t(5, 3), 0, 1, 3), s(s.t(5, 3), -1, -2, 2), s(s.t(5), 0, 5, 0)],
    doc="A view of `length` indices from `start`.",
)
narrow_tensor = composite(
    "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
    kernel="narrow_Tensor",
    doc=narrow.doc,
)

unbind = view(
    "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
    kernel="unbind_int",
    grad=lambda g, dim: cpp.unbind_backward(g, dim),
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3), 1), s(s.t(0, 3))],
    doc="Views of all indices of a dimension.",
)
split = view(
    "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    kernel="split_Tensor",
    grad=lambda g, dim: cpp.split_backward(g, dim),
    samples=lambda s: [s(s.t(5, 3), 2), s(s.t(5, 3), 2, 1), s(s.t(5), 9)],
    doc="Views of pieces of split_size (or of the sizes in a list) along a dimension; the last may be shorter.",
)
split_sizes = view(
    "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    kernel="split_with_sizes",
    grad=lambda g, dim: cpp.split_backward(g, dim),
    nodes={"sizes": "SplitWithSizesBackward0"},
    samples=lambda s: [s(s.t(5, 3), [2, 3]), s(s.t(5, 3), [1, 0, 2], -1)],
    doc=split.doc,
)
split_with_sizes = view(
    "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    kernel="split_with_sizes",
    grad=lambda g, dim: cpp.split_backward(g, dim),
    samples=lambda s: [s(s.t(5, 3), [2, 3])],
    doc=split.doc,
)
chunk = view(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
    kernel="chunk",
    grad=lambda g, dim: cpp.split_backward(g, dim),
    nodes={"": "SplitBackward0"},
    samples=lambda s: [s(s.t(5, 3), 2), s(s.t(5, 3), 4, 1), s(s.t(0, 3), 2)],
    doc="Views of at most `chunks` equal pieces; the last may be shorter.",
)
tensor_split = view(
    "tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]",
    kernel="tensor_split_sections",
    grad=lambda g, dim: cpp.split_backward(g, dim),
    nodes={"sections": "SplitWithSizesBackward0"},
    samples=lambda s: [s(s.t(5, 3), 3), s(s.t(5, 3), 4, 1)],
    doc="Views of `sections` pieces that differ by one at most, or of those that `indices` cut.",
)
tensor_split_indices = view(
    "tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]",
    kernel="tensor_split_indices",
    grad=lambda g, self_sizes, indices, dim: cpp.tensor_split_backward(g, self_sizes, indices, dim),
    nodes={"indices": "SplitWithSizesBackward0"},
    samples=lambda s: [s(s.t(5, 3), (1, 4)), s(s.t(5, 3), (1, -1), 1), s(s.t(5), (3, 1))],
    doc=tensor_split.doc,
)
tensor_split_tensor = composite(
    "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0)"
    " -> Tensor(a)[]",
    kernel="tensor_split_tensor",
    doc=tensor_split.doc,
)


def _numpy_split(name: str, dim_text: str):
    """hsplit, vsplit and dsplit: tensor_split with a fixed dimension, that sections must divide."""
    return (
        composite(
            f"{name}.int(Tensor(a) self, int sections) -> Tensor(a)[]",
            kernel=f"{name}_int",
            samples=lambda s: [s(s.t(4, 4, 2), 2)],
            doc=f"tensor_split() along {dim_text}.",
        ),
        composite(
            f"{name}.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
            kernel=f"{name}_array",
            samples=lambda s: [s(s.t(4, 4, 4), (1, 3))],
            doc=f"tensor_split() along {dim_text}.",
        ),
    )


hsplit = _numpy_split("hsplit", "the second dimension (the only one of a vector)")
vsplit = _numpy_split("vsplit", "the first dimension")
dsplit = _numpy_split("dsplit", "the third dimension")

diagonal = view(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    kernel="diagonal",
    grad=lambda g, self_sizes, offset, dim1, dim2: g.diagonal_backward(self_sizes, offset, dim1, dim2),
    samples=lambda s: [s(s.t(3, 4)), s(s.t(3, 4), 1), s(s.t(3, 4), -2), s(s.t(2, 3, 4), 0, 1, 2), s(s.t(3, 4), 9)],
    doc="A view of a diagonal of the last two dimensions, as the last dimension.",
)
diagonal_backward = op(
    "diagonal_backward(Tensor self, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    kernel="diagonal_backward",
    structured=True,
    device_neutral=True,
    namespace="private",
    linear=("self",),
    grad=lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
    doc="Zeros of input_sizes with the gradient on a diagonal.",
)

unfold = view(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    kernel="unfold",
    variants="method",
    grad=lambda g, self_sizes, dimension, size, step: g.unfold_backward(self_sizes, dimension, size, step),
    samples=lambda s: [s(s.t(7), 0, 3, 2), s(s.t(4, 5), 1, 2, 1), s(s.t(), 0, 1, 1)],
    doc="A view of all windows of `size` along a dimension, `step` apart; the window is the last dimension.",
)
unfold_backward = op(
    "unfold_backward(Tensor self, int[] input_sizes, int dim, int size, int step) -> Tensor",
    kernel="unfold_backward",
    namespace="private",
    linear=("self",),
    grad=lambda g, dim, size, step: g.unfold(dim, size, step),
    doc="The sum of the gradients of all windows.",
)

"""Joining, repeating and reordering: cat and stack, repeat, flip, roll."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

cat = op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    kernel="cat",
    out=True,
    writes=("cast",),
    aliases="concat, concatenate",
    autocast="promote",
    linear=("tensors",),
    grad=lambda g, tensors_sizes, dim: cpp.cat_backward(g, tensors_sizes, dim),
    samples=lambda s: [
        s([s.t(2, 3), s.t(4, 3)]),
        s([s.t(2, 3), s.t(2, 1)], 1),
        s([s.t(2, 3), s.t(0)], -1),
        s([s.t(3, 2, permuted=True), s.t(1, 2)]),
        s([s.t(2), s.ints(2)]),
    ],
    doc="The tensors one after the other along an existing dimension.",
)
stack = op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    kernel="stack",
    out=True,
    writes=("cast",),
    autocast="promote",
    linear=("tensors",),
    grad=lambda g, dim: cpp.stack_backward(g, dim),
    samples=lambda s: [s([s.t(2, 3), s.t(2, 3)]), s([s.t(2, 3), s.t(2, 3)], 1), s([s.t(), s.t()], -1)],
    doc="The tensors side by side along a new dimension.",
)
for _name, _aliases, _doc in (
    ("hstack", (), "cat() along the second dimension (the first of vectors)."),
    ("vstack", ("row_stack",), "cat() along the first dimension; vectors count as rows."),
    ("dstack", (), "cat() along the third dimension."),
    ("column_stack", (), "hstack() in which vectors count as columns."),
):
    composite(
        f"{_name}(Tensor[] tensors) -> Tensor",
        kernel=_name,
        out=True,
        writes=("cast",),
        aliases=_aliases,
        samples=lambda s: [s([s.t(2, 3), s.t(2, 3)]), s([s.t(3), s.t(3)]), s([s.t(), s.t()])],
        doc=_doc,
    )

repeat = op(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    kernel="repeat",
    variants="method",
    linear=("self",),
    grad=lambda g, self_sizes, repeats: cpp.repeat_backward(g, self_sizes, repeats),
    samples=lambda s: [
        s(s.t(2, 3), (2, 1)),
        s(s.t(3), (2, 2)),
        s(s.t(), (3,)),
        s(s.t(2, 3), (0, 1)),
        s(s.t(2, 3), (1, 1, 1)),
    ],
    doc="Copies of the tensor laid side by side.",
)
tile = composite(
    "tile(Tensor self, int[] dims) -> Tensor",
    kernel="tile",
    samples=lambda s: [s(s.t(2, 3), (2,)), s(s.t(3), (2, 2))],
    doc="repeat() with missing repeats counted as 1.",
)
flip = op(
    "flip(Tensor self, int[] dims) -> Tensor",
    kernel="flip",
    linear=("self",),
    grad=lambda g, dims: g.flip(dims),
    samples=lambda s: [s(s.t(2, 3), (0,)), s(s.t(2, 3), (0, -1)), s(s.t(3, 2, permuted=True), (1,)), s(s.t(2, 3), ())],
    doc="A copy with the order along `dims` reversed.",
)
fliplr = composite(
    "fliplr(Tensor self) -> Tensor",
    kernel="fliplr",
    samples=lambda s: [s(s.t(2, 3))],
    doc="flip() along the second dimension.",
)
flipud = composite(
    "flipud(Tensor self) -> Tensor",
    kernel="flipud",
    samples=lambda s: [s(s.t(2, 3))],
    doc="flip() along the first dimension.",
)
roll = op(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    kernel="roll",
    linear=("self",),
    grad=lambda g, shifts, dims: cpp.roll_backward(g, shifts, dims),
    samples=lambda s: [s(s.t(2, 3), 1), s(s.t(2, 3), -2, 1), s(s.t(4, 3), (1, 2), (0, 1))],
    doc="A copy with elements shifted along `dims`, in at the other end; without dims as if flattened.",
)
rot90 = composite(
    "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    kernel="rot90",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3), 2), s(s.t(2, 3, 4), -1, (1, 2))],
    doc="A copy turned by k quarter turns in the plane of two dimensions.",
)

"""Largest and smallest elements, and where they are. NaN counts as larger and as smaller than everything."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_WHOLE = lambda s: [s(s.t(3, 5)), s(s.t(300)), s(s.t()), s(s.ints(4)), s(s.mask(3))]
_ONE = lambda s: [s(s.t(3, 5), 1), s(s.t(3, 5), 0, True), s(s.t(2, 3, 4), -2), s(s.t(), 0), s(s.ints(3, 4), 1)]
_DIMS = lambda s: [s(s.t(3, 5)), s(s.t(3, 5), 1), s(s.t(2, 3, 4), (0, -1), True), s(s.t(), 0)]


def _family(name: str, word: str):
    """amax, max and argmax, or amin, min and argmin."""
    amax = op(
        f"a{name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        kernel=f"a{name}",
        out=True,
        writes=("overlap",),
        grad=lambda g, self, y, dim, keepdim: cpp.amax_backward(g, self, y, dim, keepdim),
        samples=_DIMS,
        doc=f"The {word} elements over `dim`; gradients are shared equally among equals.",
    )
    whole = op(
        f"{name}(Tensor self) -> Tensor",
        kernel=name,
        out=True,
        grad=lambda g, self, y: cpp.max_backward(g, self, y),
        samples=_WHOLE,
        doc=f"The {word} element; along `dim` also its index; of two tensors, elementwise.",
    )
    other = composite(
        f"{name}.other(Tensor self, Tensor other) -> Tensor",
        kernel=f"{name}_other",
        out=True,
        writes=("cast",),
        samples=lambda s: [s(s.t(3, 4), s.t(4))],
        doc=whole.doc,
    )
    along = op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
        kernel=f"{name}_dim",
        out=True,
        names=("values", "indices"),
        return_type=name,
        nondiff=(1,),
        grad=lambda g0, self_sizes, y1, dim, keepdim: cpp.select_along_backward(g0, self_sizes, y1, dim, keepdim),
        samples=_ONE,
        doc=whole.doc,
    )
    arg = op(
        f"arg{name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        kernel=f"arg{name}",
        out=True,
        samples=lambda s: [s(s.t(3, 5)), s(s.t(3, 5), 1), s(s.t(3, 5), 0, True), s(s.t(), 0)],
        doc=f"The index of the {word} element, in the flattened tensor or along `dim`; the first of equals.",
    )
    return amax, whole, along, other, arg


amax, max_, max_dim, max_other, argmax = _family("max", "largest")
amin, min_, min_dim, min_other, argmin = _family("min", "smallest")

aminmax = composite(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    kernel="aminmax",
    out=True,
    names=("min", "max"),
    return_type="aminmax",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(3, 5), dim=1)],
    doc="The smallest and the largest element, over all or along `dim`.",
)

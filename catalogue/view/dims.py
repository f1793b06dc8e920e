"""Views that permute, add, drop or broadcast dimensions, and their in-place forms."""

from catalogue.kinds import composite, op, view
from codegen.expr import cpp

transpose = view(
    "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    kernel="transpose_int",
    aliases="swapaxes, swapdims",
    grad=lambda g, dim0, dim1: g.transpose(dim0, dim1),
    samples=lambda s: [s(s.t(2, 3, 4), 0, 2), s(s.t(2, 3), -1, 0), s(s.t(), 0, 0), s(s.t(0, 3), 0, 1)],
    doc="A view with dimensions dim0 and dim1 exchanged.",
)

transpose_ = op(
    "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    kernel="transpose_",
    aliases="swapaxes_, swapdims_",
    device_neutral=True,
    grad=lambda g, dim0, dim1: g.transpose(dim0, dim1),
    doc="Exchanges dimensions dim0 and dim1 of the tensor itself.",
)

t = view(
    "t(Tensor(a) self) -> Tensor(a)",
    kernel="t",
    grad=lambda g: g.t(),
    samples=lambda s: [s(s.t(2, 3)), s(s.t(4)), s(s.t())],
    doc="The transpose of a matrix; a vector or 0-dim tensor as it is.",
)

t_ = op(
    "t_(Tensor(a!) self) -> Tensor(a!)",
    kernel="t_",
    device_neutral=True,
    grad=lambda g: g.t(),
    doc="Transposes a matrix in place.",
)

permute = view(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    kernel="permute",
    grad=lambda g, dims: cpp.permute_backward(g, dims),
    samples=lambda s: [s(s.t(2, 3, 4), (2, 0, 1)), s(s.t(2, 3), (-1, 0)), s(s.t(), ()), s(s.t(0, 3), (1, 0))],
    doc="A view with the dimensions in the given order.",
)

squeeze = view(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    kernel="squeeze",
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    samples=lambda s: [s(s.t(1, 3, 1)), s(s.t(2, 3)), s(s.t())],
    doc="A view without the dimensions of size 1 (without those among `dim` if it is given).",
)
squeeze_dim = view(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    kernel="squeeze_dim",
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    samples=lambda s: [s(s.t(1, 3, 1), 0), s(s.t(1, 3, 1), 1), s(s.t(1, 3, 1), -1), s(s.t(), 0)],
    doc=squeeze.doc,
)
squeeze_dims = view(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    kernel="squeeze_dims",
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    samples=lambda s: [s(s.t(1, 3, 1), (0, 2)), s(s.t(1, 3, 1), (1,)), s(s.t(1, 3, 1), ())],
    doc=squeeze.doc,
)

squeeze_ = op(
    "squeeze_(Tensor(a!) self) -> Tensor(a!)",
    kernel="squeeze_",
    device_neutral=True,
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    doc="Drops the dimensions of size 1 (those among `dim` if it is given) from the tensor itself.",
)
squeeze_dim_ = op(
    "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
    kernel="squeeze_dim_",
    device_neutral=True,
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    doc=squeeze_.doc,
)
squeeze_dims_ = op(
    "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
    kernel="squeeze_dims_",
    device_neutral=True,
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    doc=squeeze_.doc,
)

unsqueeze = view(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    kernel="unsqueeze",
    grad=lambda g, dim: g.squeeze(dim),
    samples=lambda s: [s(s.t(2, 3), 0), s(s.t(2, 3), 1), s(s.t(2, 3), -1), s(s.t(), 0)],
    doc="A view with a dimension of size 1 put in at `dim`.",
)
unsqueeze_ = op(
    "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
    kernel="unsqueeze_",
    device_neutral=True,
    grad=lambda g, dim: g.squeeze(dim),
    doc="Puts a dimension of size 1 in at `dim` of the tensor itself.",
)

expand = view(
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    kernel="expand",
    variants="method",
    grad=lambda g: g,
    samples=lambda s: [s(s.t(3, 1), (3, 4)), s(s.t(3), (2, 3)), s(s.t(1, 3), (-1, 3)), s(s.t(), (2, 2))],
    doc="A view in which dimensions of size 1 are repeated to `size` without copying; -1 keeps a size.",
)
expand_as = composite(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    body=lambda self, other_sizes: self.expand(other_sizes),
    variants="method",
    samples=lambda s: [s(s.t(3, 1), s.t(3, 4)), s(s.t(), s.t(2))],
    doc="expand() to the sizes of `other`.",
)
broadcast_to = composite(
    "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
    body=lambda self, size: self.expand(size),
    samples=lambda s: [s(s.t(3, 1), (3, 4)), s(s.t(), (2,))],
    doc="expand() as a function.",
)
broadcast_tensors = composite(
    "_broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    kernel="_broadcast_tensors",
    variants="function",
    doc="Views of the tensors with their common shape.",
)

movedim = composite(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    kernel="movedim_intlist",
    aliases="moveaxis",
    samples=lambda s: [s(s.t(2, 3, 4), (0, 1), (2, 0)), s(s.t(2, 3, 4), (-1,), (0,))],
    doc="A view with the dimensions of `source` moved to the places of `destination`; the others keep their order.",
)
movedim_int = composite(
    "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    kernel="movedim_int",
    aliases="moveaxis",
    samples=lambda s: [s(s.t(2, 3, 4), 0, 2), s(s.t(2, 3, 4), -1, 0)],
    doc=movedim.doc,
)

numpy_T = composite(
    "T(Tensor(a) self) -> Tensor(a)",
    kernel="reversed_dims",
    variants="property",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(4))],
    doc="A view with the dimensions reversed.",
)
mT = composite(
    "mT(Tensor(a) self) -> Tensor(a)",
    kernel="matrix_transpose",
    variants="property",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3, 4))],
    doc="A view with the last two dimensions exchanged.",
)
mH = composite(
    "mH(Tensor(a) self) -> Tensor(a)",
    kernel="matrix_adjoint",
    variants="property",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3, dtype="complex64"))],
    doc="The last two dimensions exchanged, and conjugated.",
)
adjoint = composite(
    "adjoint(Tensor(a) self) -> Tensor(a)",
    kernel="matrix_adjoint",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3, dtype="complex64"))],
    doc=mH.doc,
)
H = composite(
    "H(Tensor(a) self) -> Tensor(a)",
    kernel="matrix_H",
    variants="property",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3, dtype="complex64"))],
    doc="The conjugate transpose of a matrix.",
)

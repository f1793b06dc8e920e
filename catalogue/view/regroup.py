"""Views that regroup dimensions or reinterpret elements: view, reshape, flatten, as_strided, real and imag."""

from catalogue.kinds import composite, op, view
from codegen.expr import cpp

view_ = view(
    "view(Tensor(a) self, int[] size) -> Tensor(a)",
    kernel="view",
    variants="method",
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    samples=lambda s: [s(s.t(2, 6), (3, 4)), s(s.t(2, 6), (-1,)), s(s.t(), (1, 1)), s(s.t(0, 3), (3, 0))],
    doc="A view of the same elements in other sizes; one of them may be -1. Fails where only a copy would do.",
)
view_dtype = view(
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    kernel="view_dtype",
    variants="method",
    samples=lambda s: [s(s.ints(2, 4, dtype="int32"), "int16"), s(s.ints(2, 4, dtype="int32"), "int64")],
    doc="A view of the same bytes as elements of another dtype.",
)
view_as = composite(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    body=lambda self, other_sizes: self.view(other_sizes),
    variants="method",
    samples=lambda s: [s(s.t(2, 6), s.t(3, 4))],
    doc="view() with the sizes of `other`.",
)
reshape = composite(
    "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    kernel="reshape",
    samples=lambda s: [
        s(s.t(2, 6), (3, -1)),
        s(s.t(3, 4, permuted=True), (2, 6)),
        s(s.t(), (1,)),
        s(s.t(0, 3), (3, 0)),
    ],
    doc="The same elements in other sizes: a view where possible, else a copy.",
)
reshape_as = composite(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    body=lambda self, other_sizes: self.reshape(other_sizes),
    variants="method",
    samples=lambda s: [s(s.t(2, 6), s.t(3, 4))],
    doc="reshape() with the sizes of `other`.",
)
unsafe_view = op(
    "_unsafe_view(Tensor self, int[] size) -> Tensor",
    kernel="unsafe_view",
    device_neutral=True,
    namespace="private",
    linear=("self",),
    grad=lambda g, self_sizes: g.reshape(self_sizes),
    doc="view() of a tensor that nobody else holds; it is no view to autograd.",
)
flatten = composite(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    kernel="flatten_using_ints",
    samples=lambda s: [s(s.t(2, 3, 4)), s(s.t(2, 3, 4), 1), s(s.t(2, 3, 4), 0, 1), s(s.t())],
    doc="Merges the dimensions from start_dim to end_dim.",
)
unflatten = composite(
    "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    kernel="unflatten_int",
    samples=lambda s: [s(s.t(2, 6), 1, (2, 3)), s(s.t(2, 6), -1, (-1, 2))],
    doc="Splits a dimension into several.",
)
ravel = composite(
    "ravel(Tensor(a) self) -> Tensor(a)",
    kernel="ravel",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(2, 3, permuted=True)), s(s.t())],
    doc="All elements in one dimension.",
)

as_strided_scatter = composite(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    kernel="as_strided_scatter",
    samples=lambda s: [s(s.t(3, 3), s.t(2, 2), (2, 2), (1, 2)), s(s.t(9), s.t(2), (2,), (3,), 1)],
    doc="A copy of self in which src stands where as_strided() looks.",
)
as_strided = view(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    kernel="as_strided",
    grad=lambda g, self_layout, size, stride, storage_offset: cpp.as_strided_backward(
        g, self_layout, size, stride, storage_offset
    ),
    samples=lambda s: [s(s.t(6), (2, 2), (3, 1)), s(s.t(6), (2, 2), (1, 2), 1)],
    doc="A view of the storage with the given sizes, strides and offset.",
)
as_strided_ = op(
    "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)",
    kernel="as_strided_",
    variants="function, method",
    device_neutral=True,
    grad=lambda g: cpp.no_derivative(g, "as_strided_"),
    doc="Gives the tensor itself other sizes, strides and offset in its storage.",
)
alias = view(
    "alias(Tensor(a) self) -> Tensor(a)",
    kernel="alias",
    namespace="private",
    grad=lambda g: g,
    doc="A view of the whole.",
)
detach = view(
    "detach(Tensor(a) self) -> Tensor(a)",
    kernel="detach",
    samples=lambda s: [s(s.t(2, 3))],
    doc="The same elements without history: shares memory, never requires grad.",
)

view_as_real = view(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    kernel="view_as_real",
    variants="function",
    grad=lambda g: g.contiguous().view_as_complex(),
    samples=lambda s: [s(s.t(2, 3, dtype="complex64"))],
    doc="A real view of a complex tensor, with a last dimension for real and imaginary part.",
)
view_as_complex = view(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    kernel="view_as_complex",
    variants="function",
    autocast="float32",
    grad=lambda g: g.contiguous().view_as_real(),
    samples=lambda s: [s(s.t(2, 3, 2))],
    doc="A complex view of a real tensor whose last dimension holds real and imaginary part.",
)
real = composite(
    "real(Tensor(a) self) -> Tensor(a)",
    kernel="real",
    variants="function, property, assignable",
    samples=lambda s: [s(s.t(2, 3, dtype="complex64")), s(s.t(2))],
    doc="The real part, as a view; a real tensor itself.",
)
imag = composite(
    "imag(Tensor(a) self) -> Tensor(a)",
    kernel="imag",
    variants="function, property, assignable",
    samples=lambda s: [s(s.t(2, 3, dtype="complex64"))],
    doc="The imaginary part of a complex tensor, as a view.",
)
sum_to_size = composite(
    "sum_to_size(Tensor self, int[] size) -> Tensor",
    kernel="sum_to_size",
    variants="method",
    samples=lambda s: [s(s.t(2, 3, 4), (3, 1)), s(s.t(3, 4), (3, 4)), s(s.t(3, 4), ())],
    doc="Sums over the dims that broadcasting of `size` would have made or widened.",
)

for _name in ("resolve_conj", "resolve_neg"):
    composite(
        f"{_name}(Tensor(a) self) -> Tensor(a)",
        body=lambda self: self,
        ref=lambda a: a,
        samples=lambda s: [s(s.t(2, 3)), s(s.t(2))],
        doc="self: nothing is ever lazily conjugated or negated.",
    )

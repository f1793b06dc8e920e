"""Copies: clone, contiguous, copy_, fill_, and conversions of dtype, device and memory format."""

from catalogue.kinds import composite, op

clone = op(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    kernel="clone",
    linear=("self",),
    structured=True,
    device_neutral=True,
    grad=lambda g: g,
    samples=lambda s: [s(s.t(2, 3)), s(s.t(3, 2, permuted=True)), s(s.t()), s(s.t(0, 2))],
    doc="A copy that gradients flow through; by default its strides are kept if it is dense.",
)
contiguous = composite(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
    kernel="contiguous",
    variants="method",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(3, 2, permuted=True))],
    doc="The tensor itself if it lies row-major in memory without gaps, else a copy that does.",
)
to_copy = op(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Device? device=None, MemoryFormat? memory_format=None) -> Tensor",
    kernel="_to_copy",
    device_neutral=True,
    namespace="private",
    linear=("self",),
    grad=lambda g: g,
    nodes={"": "ToCopyBackward0"},
    doc="A converted copy.",
)

local_scalar = op(
    "_local_scalar_dense(Tensor self) -> Scalar",
    kernel="local_scalar",
    structured=False,
    namespace="private",
    samples=lambda s: [s(s.t()), s(s.t(1, 1)), s(s.t(1, dtype="int64"))],
    doc="The only element as a number: what item() asks for where it can't read the memory itself.",
)

_TO = "bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None"
to_dtype = composite(
    f"to.dtype(Tensor(a) self, ScalarType dtype, {_TO}) -> Tensor(a)",
    kernel="to_dtype",
    variants="method",
    samples=lambda s: [s(s.t(2, 3), "float64"), s(s.t(2, 3), "int64"), s(s.t(2, 3), "float32")],
    doc="The tensor with another dtype or device: itself if nothing changes (and copy is False), else a copy.",
)
to_device = composite(
    f"to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, {_TO}) -> Tensor(a)",
    kernel="to_device",
    variants="method",
    samples=lambda s: [s(s.t(2, 3), "cpu"), s(s.t(2, 3), "cpu", "float64")],
    doc=to_dtype.doc,
)
to_other = composite(
    f"to.other(Tensor(a) self, Tensor other, {_TO}) -> Tensor(a)",
    kernel="to_other",
    variants="method",
    samples=lambda s: [s(s.t(2, 3), s.t(1, dtype="float64"))],
    doc=to_dtype.doc,
)
type_as = composite(
    "type_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    kernel="type_as",
    variants="method",
    samples=lambda s: [s(s.t(2, 3), s.t(1, dtype="float64"))],
    doc="to(other.dtype).",
)
cpu = composite(
    "cpu(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
    kernel="cpu",
    variants="method",
    samples=lambda s: [s(s.t(2, 3))],
    doc="to('cpu').",
)
for _name, _dtype in {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}.items():
    composite(
        f"{_name}(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
        kernel=f"cast_{_name}",
        variants="method",
        samples=lambda s: [s(s.t(2, 3)), s(s.ints(2, 3))],
        doc=f"to(torch.{_dtype}).",
    )

copy_ = op(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    kernel="copy_",
    device_neutral=True,
    grad=lambda g: (g.zeros_like(), g),
    nodes={"": "CopyBackwards"},
    doc="Overwrites the tensor with src, broadcast and converted.",
)
fill_ = op(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    kernel="fill__Scalar",
    device_neutral=True,
    variants="function, method",
    grad=lambda g: g.zeros_like(),
    nodes={"Scalar": "FillBackward2"},
    doc="Overwrites every element with a number or a 0-dim tensor.",
)
fill_tensor_ = op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    kernel="fill__Tensor",
    device_neutral=True,
    variants="function, method",
    grad=lambda g: (g.zeros_like(), g),
    nodes={"Tensor": "FillBackward3"},
    doc=fill_.doc,
)
zero_ = op(
    "zero_(Tensor(a!) self) -> Tensor(a!)",
    kernel="zero_",
    device_neutral=True,
    variants="function, method",
    grad=lambda g: g.zeros_like(),
    doc="Overwrites every element with 0.",
)
resize_ = op(
    "resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    kernel="resize_",
    device_neutral=True,
    doc="Changes the sizes of the tensor itself; memory grows where needed, and new elements are uninitialised.",
)
resize_as_ = op(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    kernel="resize_as_",
    variants="function, method",
    device_neutral=True,
    doc="resize_() to the sizes of another tensor.",
)
fill = op(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    kernel="fill_Scalar",
    structured=True,
    device_neutral=True,
    variants="function",
    grad=lambda g: g.zeros_like(),
    samples=lambda s: [s(s.t(2, 3), 1.5)],
    doc="A tensor like self, filled with a number or a 0-dim tensor.",
)
fill_tensor = op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    kernel="fill_Tensor",
    structured=True,
    device_neutral=True,
    variants="function",
    grad=lambda g: (g.zeros_like(), g),
    samples=lambda s: [s(s.t(2, 3), s.t())],
    doc=fill.doc,
)

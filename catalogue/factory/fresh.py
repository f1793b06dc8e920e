"""Tensors filled with one number, or not at all."""

from catalogue.kinds import op

OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False"
)
LIKE = f"{OPTIONS}, MemoryFormat? memory_format=None"


def factory(schema: str, kernel: str, **options):
    """A kernel that serves every device and fills its result itself."""
    return op(schema, kernel=kernel, structured=False, device_neutral=True, **options)


empty = factory(
    f"empty.memory_format(int[] size, *, {LIKE}) -> Tensor",
    "empty",
    out=True,
    doc="An uninitialised tensor.",
)
zeros = factory(
    f"zeros(int[] size, *, {OPTIONS}) -> Tensor",
    "zeros",
    out=True,
    samples=lambda s: [s((2, 3)), s(()), s((0, 2)), s((2,), dtype="int64")],
    doc="A tensor of zeros.",
)
ones = factory(
    f"ones(int[] size, *, {OPTIONS}) -> Tensor",
    "ones",
    out=True,
    samples=lambda s: [s((2, 3)), s(()), s((0, 2)), s((2,), dtype="bool")],
    doc="A tensor of ones.",
)
full = factory(
    f"full(int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    "full",
    out=True,
    samples=lambda s: [s((2, 3), 1.5), s((), 2), s((2,), True), s((2,), 1 + 2j)],
    doc="A tensor of one value; without dtype it has the value's.",
)
scalar_tensor = factory(
    f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    "scalar_tensor",
    samples=lambda s: [s(1.5), s(2, dtype="int64")],
    doc="A 0-dim tensor of one number.",
)
empty_strided = factory(
    f"empty_strided(int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    "empty_strided",
    doc="An uninitialised tensor with given strides.",
)
empty_permuted = factory(
    f"empty_permuted(int[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor",
    "empty_permuted",
    doc="An uninitialised dense tensor whose dimensions lie in memory in the given order, outermost first.",
)

empty_like = factory(
    f"empty_like(Tensor self, *, {LIKE}) -> Tensor",
    "empty_like",
    variants="function",
    doc="An uninitialised tensor like another.",
)
zeros_like = factory(
    f"zeros_like(Tensor self, *, {LIKE}) -> Tensor",
    "zeros_like",
    variants="function",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(3, 2, permuted=True)), s(s.t(2), dtype="int64")],
    doc="Zeros like another tensor.",
)
ones_like = factory(
    f"ones_like(Tensor self, *, {LIKE}) -> Tensor",
    "ones_like",
    variants="function",
    samples=lambda s: [s(s.t(2, 3)), s(s.t(3, 2, permuted=True))],
    doc="Ones like another tensor.",
)
full_like = factory(
    f"full_like(Tensor self, Scalar fill_value, *, {LIKE}) -> Tensor",
    "full_like",
    variants="function",
    samples=lambda s: [s(s.t(2, 3), 1.5), s(s.ints(2), 3)],
    doc="One value, like another tensor.",
)

new_empty = factory(
    f"new_empty(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "new_empty",
    variants="method",
    doc="An uninitialised tensor with this one's dtype and device.",
)
new_empty_strided = factory(
    f"new_empty_strided(Tensor self, int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    "new_empty_strided",
    variants="method",
    doc="An uninitialised tensor with given strides and this one's dtype and device.",
)
new_zeros = factory(
    f"new_zeros(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "new_zeros",
    variants="method",
    samples=lambda s: [s(s.t(2), (2, 3)), s(s.ints(2), ())],
    doc="Zeros with this tensor's dtype and device.",
)
new_ones = factory(
    f"new_ones(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "new_ones",
    variants="method",
    samples=lambda s: [s(s.t(2), (2, 3)), s(s.ints(2), ())],
    doc="Ones with this tensor's dtype and device.",
)
new_full = factory(
    f"new_full(Tensor self, int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    "new_full",
    variants="method",
    samples=lambda s: [s(s.t(2), (2, 3), 1.5), s(s.ints(2), (), 3)],
    doc="One value, with this tensor's dtype and device.",
)

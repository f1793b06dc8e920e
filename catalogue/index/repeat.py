"""Repetition by element, one-hot vectors, and closeness."""

from catalogue.kinds import composite, op

repeat_interleave = composite(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    kernel="repeat_interleave_self_int",
    samples=lambda s: [s(s.t(2, 3), 2), s(s.t(2, 3), 2, 1), s(s.t(), 3), s(s.t(2, 3), 0, 0)],
    doc="Each element (or slice along dim) repeated.",
)
repeat_interleave_self = composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    kernel="repeat_interleave_self_Tensor",
    samples=lambda s: [s(s.t(2, 3), s.values(1, 2, dtype="int64"), 0), s(s.t(3), s.values(2, 0, 1, dtype="int64"))],
    doc=repeat_interleave.doc,
)
repeat_interleave_counts = op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    kernel="repeat_interleave_Tensor",
    structured=False,
    variants="function",
    samples=lambda s: [s(s.values(2, 0, 1, dtype="int64"))],
    doc=repeat_interleave.doc,
)
one_hot = op(
    "one_hot(Tensor tensor, int num_classes=-1) -> Tensor",
    kernel="one_hot",
    structured=False,
    namespace="nn.functional",
    samples=lambda s: [s(s.ints(3, high=4), 4), s(s.ints(2, 2, high=3)), s(s.ints(high=2), 2)],
    doc="Vectors with a 1 at the place that each number names.",
)
combinations = composite(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    kernel="combinations",
    variants="function",
    samples=lambda s: [s(s.t(4)), s(s.t(3), 2, True), s(s.t(4), 3), s(s.t(3), 0)],
    doc="All choices of r elements of a vector, a row each.",
)

allclose = composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    kernel="allclose",
    samples=lambda s: [s(s.t(3, 4), s.t(3, 4)), s(s.values(1.0, 2.0), s.values(1.0, 2.0))],
    doc="Whether isclose() holds everywhere.",
)
equal = op(
    "equal(Tensor self, Tensor other) -> bool",
    kernel="equal",
    structured=False,
    samples=lambda s: [s(s.t(3, 4), s.t(3, 4)), s(s.values(1.0, 2.0), s.values(1.0, 2.0)), s(s.t(2), s.t(3))],
    doc="Whether two tensors have the same size and elements.",
)

"""Random numbers. With the same seed they are PyTorch's, in the order of memory; the kernels are in runtime/random/."""

from typing import Any

from catalogue.kinds import op
from codegen.expr import ops

GENERATOR = "*, Generator? generator=None"
MAKE = f"{GENERATOR}, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
GRAD = "bool requires_grad=False"
FILL: dict[str, Any] = {"on_meta": True, "grad": lambda g: ops.zeros_like(g)}  # the old values don't matter
FACTORY: dict[str, Any] = {"on_meta": True, "variants": "function"}

# ---- filling a tensor

op(
    f"uniform_(Tensor(a!) self, float from=0, float to=1, {GENERATOR}) -> Tensor(a!)",
    kernel="uniform_",
    **FILL,
    doc="Fills self with numbers from the uniform distribution over [from, to).",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), -1.5, 2.5), s(s.t(4, 3, permuted=True)), s(s.t()), s(s.t(0, 3))],
)
op(
    f"normal_(Tensor(a!) self, float mean=0, float std=1, {GENERATOR}) -> Tensor(a!)",
    kernel="normal_",
    **FILL,
    doc="Fills self with numbers from the normal distribution.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), -1.5, 2.5), s(s.t(8, 3, permuted=True)), s(s.t()), s(s.t(0, 3))],
)
op(
    f"random_.from(Tensor(a!) self, int from, int? to, {GENERATOR}) -> Tensor(a!)",
    kernel="random_from",
    **FILL,
    doc="Fills self with integers from [from, to); without to, up to the largest that the dtype holds.",
    samples=lambda s: [s(s.t(3, 5), -3, 9), s(s.ints(37), 0, 2**40), s(s.ints(5), 2, None)],
)
op(
    f"random_.to(Tensor(a!) self, int to, {GENERATOR}) -> Tensor(a!)",
    kernel="random_to",
    **FILL,
    doc="Fills self with integers from [0, to).",
    samples=lambda s: [s(s.t(3, 5), 7), s(s.ints(4, 3), 10)],
)
op(
    f"random_(Tensor(a!) self, {GENERATOR}) -> Tensor(a!)",
    kernel="random_",
    **FILL,
    doc="Fills self with integers from all that the dtype holds, from zero on.",
    samples=lambda s: [s(s.t(3, 5)), s(s.ints(4, 3)), s(s.mask(6))],
)
op(
    f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, {GENERATOR}) -> Tensor(a!)",
    kernel="bernoulli_tensor",
    on_meta=True,
    grad=lambda g, p: (ops.zeros_like(g), ops.zeros_like(p)),
    doc="Fills self with ones, each with the probability that p has at its place, and zeros.",
    samples=lambda s: [s(s.t(3, 5), s.t(3, 5, low=0, high=1)), s(s.t(4, 3, permuted=True), s.t(3, low=0, high=1))],
)
op(
    f"bernoulli_.float(Tensor(a!) self, float p=0.5, {GENERATOR}) -> Tensor(a!)",
    kernel="bernoulli_scalar",
    **FILL,
    doc="Fills self with ones, each with probability p, and zeros.",
    samples=lambda s: [s(s.t(3, 5)), s(s.ints(37), 0.2), s(s.t(4, 3, permuted=True), 0.8)],
)
op(
    f"exponential_(Tensor(a!) self, float lambd=1, {GENERATOR}) -> Tensor(a!)",
    kernel="exponential_",
    **FILL,
    doc="Fills self with numbers from the exponential distribution of rate lambd.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 2.5)],
)
op(
    f"geometric_(Tensor(a!) self, float p, {GENERATOR}) -> Tensor(a!)",
    kernel="geometric_",
    **FILL,
    doc="Fills self with the number of trials up to the first success, which has probability p.",
    samples=lambda s: [s(s.t(3, 5), 0.3), s(s.ints(37), 0.8)],
)
op(
    f"log_normal_(Tensor(a!) self, float mean=1, float std=2, {GENERATOR}) -> Tensor(a!)",
    kernel="log_normal_",
    **FILL,
    doc="Fills self with numbers whose logarithms are normal with the given mean and deviation.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.5, 0.25)],
)
op(
    f"cauchy_(Tensor(a!) self, float median=0, float sigma=1, {GENERATOR}) -> Tensor(a!)",
    kernel="cauchy_",
    **FILL,
    doc="Fills self with numbers from the Cauchy distribution.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.5, 0.25)],
)

# ---- drawing by a tensor

op(
    f"bernoulli(Tensor self, {GENERATOR}) -> Tensor",
    kernel="bernoulli",
    on_meta=True,
    out=True,
    writes=("cast",),
    grad=lambda g: ops.zeros_like(g),
    doc="Ones, each with the probability that self has at its place, and zeros.",
    samples=lambda s: [s(s.t(3, 5, low=0, high=1)), s(s.t(4, 3, low=0, high=1, permuted=True))],
)
op(
    f"bernoulli.p(Tensor self, float p, {GENERATOR}) -> Tensor",
    kernel="bernoulli_p",
    on_meta=True,
    grad=lambda g: ops.zeros_like(g),
    doc="Ones with probability p, and zeros, of self's sizes.",
    samples=lambda s: [s(s.t(3, 5), 0.3)],
)
op(
    f"multinomial(Tensor self, int num_samples, bool replacement=False, {GENERATOR}) -> Tensor",
    kernel="multinomial",
    on_meta=True,
    out=True,
    doc="Draws column numbers from each row, whose entries are weights.",
    samples=lambda s: [
        s(s.t(8, low=0, high=1), 3),
        s(s.t(4, 6, low=0, high=1), 1),
        s(s.t(4, 6, low=0, high=1), 20, True),
    ],
)
op(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, {GENERATOR}) -> Tensor",
    kernel="normal_tensors",
    **FACTORY,
    grad=lambda g: (ops.zeros_like(g), ops.zeros_like(g)),
    out=True,
    writes=("cast",),
    doc="Normal numbers with means and deviations from two tensors.",
    samples=lambda s: [s(s.t(3, 5), s.t(3, 5, low=0, high=2)), s(s.t(3, 1), s.t(5, low=0, high=2))],
)
op(
    f"normal.Tensor_float(Tensor mean, float std=1, {GENERATOR}) -> Tensor",
    kernel="normal_means",
    **FACTORY,
    grad=lambda g: ops.zeros_like(g),
    out=True,
    writes=("cast",),
    doc="Normal numbers with means from a tensor.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.5)],
)
op(
    f"normal.float_Tensor(float mean, Tensor std, {GENERATOR}) -> Tensor",
    kernel="normal_deviations",
    **FACTORY,
    grad=lambda g: ops.zeros_like(g),
    out=True,
    writes=("cast",),
    doc="Normal numbers with deviations from a tensor.",
    samples=lambda s: [s(0.0, s.t(3, 5, low=0, high=2)), s(1.5, s.t(37, low=0, high=2))],
)
op(
    f"normal.float_float(float mean, float std, int[] size, {MAKE}, {GRAD}) -> Tensor",
    kernel="normal_numbers",
    **FACTORY,
    out=True,
    writes=("cast",),
    doc="A tensor of normal numbers.",
    samples=lambda s: [s(1.5, 0.5, (3, 5)), s(0.0, 1.0, (37,))],
)

# ---- making a tensor

op(
    f"rand(int[] size, {MAKE}, {GRAD}) -> Tensor",
    kernel="rand",
    **FACTORY,
    out=True,
    doc="A tensor of numbers from the uniform distribution over [0, 1).",
    samples=lambda s: [s(3, 5), s((2, 3, 4)), s(37, dtype="float64"), s(0)],
)
op(
    f"randn(int[] size, {MAKE}, {GRAD}) -> Tensor",
    kernel="randn",
    **FACTORY,
    out=True,
    doc="A tensor of numbers from the standard normal distribution.",
    samples=lambda s: [s(3, 5), s((2, 3, 4)), s(37, dtype="float64"), s(0)],
)
op(
    f"randint(int high, int[] size, {MAKE}, {GRAD}) -> Tensor",
    kernel="randint",
    **FACTORY,
    out=True,
    doc="A tensor of integers from [0, high).",
    samples=lambda s: [s(10, (3, 5)), s(2**40, (7,))],
)
op(
    f"randint.low(int low, int high, int[] size, {MAKE}, {GRAD}) -> Tensor",
    kernel="randint_low",
    **FACTORY,
    out=True,
    doc="A tensor of integers from [low, high).",
    samples=lambda s: [s(-5, 5, (3, 5)), s(0, 2, (37,), dtype="float32")],
)
op(
    f"randperm(int n, {MAKE}, {GRAD}) -> Tensor",
    kernel="randperm",
    **FACTORY,
    out=True,
    doc="A random permutation of the integers from 0 to n - 1.",
    samples=lambda s: [s(10), s(0), s(100, dtype="int32")],
)
op(
    f"rand_like(Tensor self, {MAKE}, {GRAD}, MemoryFormat? memory_format=None) -> Tensor",
    kernel="rand_like",
    **FACTORY,
    doc="Uniform numbers in a tensor of self's sizes.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(4, 3, permuted=True), dtype="float64")],
)
op(
    f"randn_like(Tensor self, {MAKE}, {GRAD}, MemoryFormat? memory_format=None) -> Tensor",
    kernel="randn_like",
    **FACTORY,
    doc="Standard normal numbers in a tensor of self's sizes.",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(4, 3, permuted=True), dtype="float64")],
)
op(
    f"randint_like(Tensor self, int high, {MAKE}, {GRAD}, MemoryFormat? memory_format=None) -> Tensor",
    kernel="randint_like",
    **FACTORY,
    doc="Integers from [0, high) in a tensor of self's sizes.",
    samples=lambda s: [s(s.t(3, 5), 10)],
)
op(
    f"randint_like.low(Tensor self, int low, int high, {MAKE}, {GRAD}, MemoryFormat? memory_format=None) -> Tensor",
    kernel="randint_like_low",
    **FACTORY,
    doc="Integers from [low, high) in a tensor of self's sizes.",
    samples=lambda s: [s(s.t(3, 5), -10, 10)],
)

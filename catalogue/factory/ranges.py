"""Sequences and index patterns."""

from catalogue.factory.fresh import OPTIONS
from catalogue.kinds import composite, op


def factory(schema: str, kernel: str, **options):
    """A kernel that fills its result itself."""
    return op(schema, kernel=kernel, structured=False, on_meta=True, **options)


arange = factory(
    f"arange(Scalar end, *, {OPTIONS}) -> Tensor",
    "arange",
    out=True,
    samples=lambda s: [s(5), s(2.5), s(0), s(4, dtype="float32")],
    doc="Numbers from start (0) to before end, step apart: int64 if all are integers, else the default dtype.",
)
arange_start = factory(
    f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    "arange_start",
    samples=lambda s: [s(1, 5), s(1.0, 2.5), s(3, 3)],
    doc=arange.doc,
)
arange_start_step = factory(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    "arange_start_step",
    out=True,
    samples=lambda s: [s(1, 10, 3), s(5, 0, -2), s(0, 1, 0.25)],
    doc=arange.doc,
)
range_ = factory(
    f"range(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    "range",
    out=True,
    samples=lambda s: [s(1, 5), s(0, 1, 0.25)],
    doc="Numbers from start to end, both included.",
)

linspace = factory(
    f"linspace(Scalar start, Scalar end, int steps, *, {OPTIONS}) -> Tensor",
    "linspace",
    out=True,
    samples=lambda s: [s(0, 1, 5), s(-2.5, 3, 7), s(1, 1, 1), s(0, 1, 0), s(0, 10, 4, dtype="int64")],
    doc="`steps` equally spaced numbers from start to end, both included.",
)
logspace = factory(
    f"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor",
    "logspace",
    out=True,
    samples=lambda s: [s(0, 2, 5), s(0, 3, 4, 2.0)],
    doc="Powers of `base` with equally spaced exponents from start to end.",
)
for _name, _middle in (("linspace", "int steps"), ("logspace", "int steps, float base=10.0")):
    for _first, _second in (("Tensor", "Tensor"), ("Tensor", "Scalar"), ("Scalar", "Tensor")):
        composite(
            f"{_name}.{_first}_{_second}({_first} start, {_second} end, {_middle}, *, {OPTIONS}) -> Tensor",
            kernel=f"{_name}_{_first}_{_second}",
            variants="function",
            doc=linspace.doc if _name == "linspace" else logspace.doc,
        )

eye = factory(
    f"eye(int n, *, {OPTIONS}) -> Tensor",
    "eye",
    out=True,
    samples=lambda s: [s(3), s(0)],
    doc="A matrix with ones on the diagonal.",
)
eye_m = factory(
    f"eye.m(int n, int m, *, {OPTIONS}) -> Tensor",
    "eye_m",
    out=True,
    samples=lambda s: [s(3, 2), s(2, 3)],
    doc=eye.doc,
)
tril_indices = factory(
    f"tril_indices(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor",
    "tril_indices",
    samples=lambda s: [s(3, 3), s(3, 4, 1), s(4, 3, -1), s(0, 2)],
    doc="Row and column numbers of the lower triangle, row by row.",
)
triu_indices = factory(
    f"triu_indices(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor",
    "triu_indices",
    samples=lambda s: [s(3, 3), s(3, 4, 1), s(4, 3, -1), s(0, 2)],
    doc="Row and column numbers of the upper triangle, row by row.",
)

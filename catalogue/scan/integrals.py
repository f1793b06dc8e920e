"""Integrals by the trapezoidal rule."""

from catalogue.kinds import composite

_TRAPEZOID = "The integral of y along `dim`, whose samples stand at x, or `dx` apart."
_CUMULATIVE = "The integrals of y along `dim` from the first sample to each later one."
_with_x = lambda s: [s(s.t(2, 3), s.t(3)), s(s.t(2, 3), s.t(2, 3), dim=0), s(s.t(2, 0), s.t(0)), s(s.t(2, 1), s.t(1))]
_with_dx = lambda s: [s(s.t(2, 3)), s(s.t(2, 3), dx=0.5, dim=0), s(s.t(2, 0)), s(s.t(1)), s(s.ints(2, 3))]

trapezoid_x = composite(
    "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    kernel="trapezoid_x",
    samples=_with_x,
    doc=_TRAPEZOID,
)
trapezoid_dx = composite(
    "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    kernel="trapezoid_dx",
    samples=_with_dx,
    doc=_TRAPEZOID,
)
trapz_x = composite(
    "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    kernel="trapz_x",
    samples=_with_x,
    doc=_TRAPEZOID,
)
trapz_dx = composite(
    "trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor",
    kernel="trapz_dx",
    samples=_with_dx,
    doc=_TRAPEZOID,
)
cumulative_trapezoid_x = composite(
    "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    kernel="cumulative_trapezoid_x",
    samples=_with_x,
    doc=_CUMULATIVE,
)
cumulative_trapezoid_dx = composite(
    "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    kernel="cumulative_trapezoid_dx",
    samples=_with_dx,
    doc=_CUMULATIVE,
)

"""What derivatives of steps and kinks are made of."""

from catalogue.dtypes import floating
from catalogue.kinds import pointwise
from codegen.primitives import constant

no_slope = pointwise(
    "_no_slope(Tensor self) -> Tensor",
    namespace="private",
    dtypes=floating,
    kernel=lambda self: constant(0, self.type),
    samples=lambda s: [s(s.t(3, 5)), s(s.t())],
    doc="Zeros, also where self is infinite or NaN: the gradient of what is constant in pieces.",
)
flat = pointwise(
    "_flat(Tensor self, Tensor at) -> Tensor",
    namespace="private",
    dtypes=floating,
    kernel=lambda self, at: self,
    grad=lambda g: (g, no_slope(g)),
    samples=lambda s: [s(s.t(3, 5), s.t(3, 5)), s(s.t(), s.t())],
    doc="self, a function of `at` with slope 0: in a gradient it makes the second derivative by `at` 0, not absent.",
)

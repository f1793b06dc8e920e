"""Variance and standard deviation, alone and with the mean."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

_ARGS = "int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False"
_SAMPLES = lambda s: [s(s.t(2, 3, 4), 1), s(s.t(3, 4), (0, 1), correction=0), s(s.t(3, 4), 0, keepdim=True), s(s.t(50))]

var = op(
    f"var.correction(Tensor self, {_ARGS}) -> Tensor",
    kernel="var_correction",
    out=True,
    writes=("cast", "overlap"),
    grad=lambda g, self, dim, correction, keepdim: cpp.var_backward(g, self, dim, correction, keepdim),
    samples=_SAMPLES,
    doc="The variance: squared differences from the mean, summed and divided by n - correction (1 by default).",
)
std = op(
    f"std.correction(Tensor self, {_ARGS}) -> Tensor",
    kernel="std_correction",
    out=True,
    writes=("cast", "overlap"),
    grad=lambda g, self, y, dim, correction, keepdim: cpp.std_backward(g, self, y, dim, correction, keepdim),
    samples=_SAMPLES,
    doc="The square root of the variance.",
)
var_mean = op(
    f"var_mean.correction(Tensor self, {_ARGS}) -> (Tensor, Tensor)",
    kernel="var_mean_correction",
    wants_zeros=False,
    variants="function",
    grad=lambda g0, g1, self, dim, correction, keepdim: cpp.var_mean_backward(g0, g1, self, dim, correction, keepdim),
    samples=_SAMPLES,
    doc="The variance and the mean.",
)
std_mean = op(
    f"std_mean.correction(Tensor self, {_ARGS}) -> (Tensor, Tensor)",
    kernel="std_mean_correction",
    wants_zeros=False,
    variants="function",
    grad=lambda g0, g1, self, y0, dim, correction, keepdim: cpp.std_mean_backward(
        g0, g1, self, y0, dim, correction, keepdim
    ),
    samples=_SAMPLES,
    doc="The standard deviation and the mean.",
)
for _entry, _variants, _result in (
    (var, "function, method", "Tensor"),
    (std, "function, method", "Tensor"),
    (var_mean, "function", "(Tensor, Tensor)"),
    (std_mean, "function", "(Tensor, Tensor)"),
):
    composite(
        f"{_entry.name}(Tensor self, bool unbiased=True) -> {_result}",
        kernel=f"{_entry.name}_unbiased",
        variants=_variants,
        samples=lambda s: [s(s.t(3, 4)), s(s.t(3, 4), False)],
        doc=_entry.doc,
    )
    composite(
        f"{_entry.name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> {_result}",
        kernel=f"{_entry.name}_dim",
        variants=_variants,
        out=_result == "Tensor",
        samples=lambda s: [s(s.t(3, 4), 0, False), s(s.t(3, 4), (0, 1), True, True)],
        doc=_entry.doc,
    )

"""A few fixed operators, one of each kind; what the generator makes of them is in golden/. Run: prints it as JSON."""

from __future__ import annotations

import json

from catalogue.dtypes import floating, numeric
from catalogue.kinds import Entry, binary, compare, composite, op, unary, view
from codegen.expr import cpp
from codegen.generate import generate

halve = unary("halve", dtypes=floating, kernel=lambda a: a * 0.5, grad=lambda g: g * 0.5, doc="Half of it.")
times = binary(
    "times",
    operator="*",
    commutative=True,
    dtypes=numeric,
    kernel=lambda a, b: a * b,
    grad=lambda g, a, b: (g.times(b), g.times(a)),
    doc="a * b",
)
below = compare("below", operator="<", dtypes=floating, kernel=lambda a, b: a < b, doc="a < b")
total = op(
    "total.dim(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    kernel="total_dim",
    out=True,
    grad=lambda g, self_sizes, dim, keepdim: cpp.total_backward(g, self_sizes, dim, keepdim),
    doc="Sum over dims.",
)
extremes = op(
    "extremes(Tensor self, int dim) -> (Tensor low, Tensor high)",
    kernel="extremes",
    nondiff=(1,),
    grad=lambda g0, y0, self: cpp.extremes_backward(g0, y0, self),
    doc="Smallest and largest.",
)
swap = view(
    "swap(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    kernel="swap",
    grad=lambda g, dim0, dim1: g.swap(dim0, dim1),
    doc="Exchanges two dims.",
)
blank_ = op("blank_(Tensor(a!) self) -> Tensor(a!)", kernel="blank_", grad=lambda g: g * 0.0, doc="Zeros it.")
swapped_half = composite("swapped_half(Tensor self) -> Tensor", body=lambda self: self.swap(0, 1).halve(), doc="Both.")
mul_alias = binary("mul", dtypes=numeric, kernel=lambda a, b: a * b)

ENTRIES: list[Entry] = [halve, times, below, total, extremes, swap, blank_, swapped_half, mul_alias]
SHOWN = (
    "tables/",
    "pointwise/",
    "nodes/",
    "bindings/",
    "ops/",
    "kernels/",
    "formulas/",
    "include/",
    "stubs/_C",
    "docs/torch.times",
)

if __name__ == "__main__":
    print(json.dumps({name: text for name, text in generate(ENTRIES).items() if name.startswith(SHOWN)}))

"""Rounding to whole numbers."""

import numpy as np

from catalogue.dtypes import floating, real
from catalogue.kinds import pointwise, unary
from catalogue.pointwise.slope import no_slope
from catalogue.samples import one
from codegen.primitives import scalar, where


def _rounding(name, kernel, ref, doc, **options):
    return unary(
        name,
        dtypes=real,
        kernel=kernel,
        integer=lambda a: a,
        grad=lambda g: no_slope(g),
        ref=ref,
        samples=one(),
        writes=(),
        doc=doc,
        **options,
    )


floor = _rounding("floor", lambda a: floor(a), np.floor, "Rounded down.")
ceil = _rounding("ceil", lambda a: ceil(a), np.ceil, "Rounded up.")
trunc = _rounding("trunc", lambda a: trunc(a), np.trunc, "Rounded towards zero.", aliases="fix")
round = _rounding("round", lambda a: round(a), np.round, "Rounded to nearest, halves to even.", aliases="special.round")

round_decimals = pointwise(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    operands=("self",),
    inplace=True,
    out=True,
    aliases="special.round",
    dtypes=floating,
    kernel=lambda self, decimals: _round_decimals(self, decimals),
    grad=lambda g: no_slope(g),
    ref=lambda a, decimals: np.round(a, decimals),
    samples=lambda s: [s(s.t(3, 5), decimals=1), s(s.t(7, low=-300, high=300), decimals=-2), s(s.t(4), decimals=0)],
    writes=(),
    doc="Rounded to a number of decimals.",
)


def _round_decimals(a, decimals):
    ten = scalar("pow10", abs(decimals))
    return where(decimals < 0, round(a / ten) * ten, round(a * ten) / ten)


frac = unary(
    "frac",
    dtypes=floating,
    kernel=lambda a: a - trunc(a),
    grad=lambda g: g,
    ref=lambda a: a - np.trunc(a),
    samples=one(),
    writes=(),
    doc="What rounding towards zero takes away.",
)

"""Rounding to whole numbers."""

import numpy as np

from catalogue.dtypes import floating, real
from catalogue.kinds import unary
from catalogue.samples import one


def _rounding(name, kernel, ref, doc, **options):
    return unary(
        name,
        dtypes=real,
        kernel=kernel,
        integer=lambda a: a,
        grad=lambda g: g * 0,
        ref=ref,
        samples=one(),
        doc=doc,
        **options,
    )


floor = _rounding("floor", lambda a: floor(a), np.floor, "Rounded down.")
ceil = _rounding("ceil", lambda a: ceil(a), np.ceil, "Rounded up.")
trunc = _rounding("trunc", lambda a: trunc(a), np.trunc, "Rounded towards zero.", aliases="fix")
round = _rounding("round", lambda a: round(a), np.round, "Rounded to nearest, halves to even.")


frac = unary(
    "frac",
    dtypes=floating,
    kernel=lambda a: a - trunc(a),
    grad=lambda g: g,
    ref=lambda a: a - np.trunc(a),
    samples=one(),
    doc="What rounding towards zero takes away.",
)

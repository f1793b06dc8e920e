"""Complex numbers: parts, conjugates, polar form."""

import numpy as np

from catalogue.dtypes import all_dtypes, floating, int_to_float, real_part
from catalogue.kinds import binary, unary
from catalogue.samples import one, pairs
from codegen.complex_expr import make
from codegen.expr import cpp
from codegen.primitives import imaginary_part
from codegen.primitives import real_part as part

conj = unary(
    "conj",
    inplace=False,
    out=False,
    kernel=lambda a: a,
    complex=lambda a: make(part(a), -imaginary_part(a)),
    dtypes=all_dtypes,
    grad=lambda g: conj(g),
    ref=np.conj,
    samples=one(),
    doc="The complex conjugate.",
)

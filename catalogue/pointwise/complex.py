"""Complex numbers: parts, conjugates, polar form."""

import numpy as np

from catalogue.dtypes import all_dtypes
from catalogue.kinds import unary
from catalogue.samples import one
from codegen.complex_expr import make
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

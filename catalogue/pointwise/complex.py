"""Complex numbers: conjugates, polar form, from parts."""

import math

import numpy as np

from catalogue import math as m
from catalogue.dtypes import all_dtypes, floating, floating_or_complex, int_to_float
from catalogue.kinds import binary, unary
from catalogue.samples import one, pairs
from codegen.complex_expr import make
from codegen.expr import cpp
from codegen.primitives import imaginary_part, number, real_part, where

conj = unary(
    "conj",
    inplace=False,
    out=False,
    kernel=lambda a: a,
    complex=lambda a: make(real_part(a), -imaginary_part(a)),
    dtypes=all_dtypes,
    grad=lambda g: conj(g),
    ref=np.conj,
    samples=one(),
    doc="The complex conjugate.",
)
conj_physical = unary(
    "conj_physical",
    kernel=lambda a: a,
    complex=lambda a: conj(a),
    dtypes=all_dtypes,
    grad=lambda g: conj(g),
    ref=np.conj,
    samples=one(),
    doc="The complex conjugate, as conj() gives it, too.",
)
angle = unary(
    "angle",
    inplace=False,
    result=int_to_float,
    dtypes=floating_or_complex,
    kernel=lambda a: where(a != a, a, number(a < 0, a) * math.pi),
    complex=lambda a: m.atan2(imaginary_part(a), real_part(a)),
    grad=lambda g, a: cpp.angle_backward(g, a),
    ref=np.angle,
    samples=one(),
    doc="The angle in the complex plane; of reals 0 or pi.",
)
complex = binary(
    "complex",
    overloads={"": "TT"},
    variants="function",
    inplace=False,
    dtypes=floating,
    kernel=lambda a, b: make(a, b),
    check="same_floats",
    grad=lambda g: (cpp.real_backward(g), cpp.imag_backward(g)),
    ref=lambda a, b: a + 1j * b,
    samples=pairs(),
    writes=(),
    doc="The complex number a + bi.",
)
polar = binary(
    "polar",
    overloads={"": "TT"},
    variants="function",
    inplace=False,
    autocast="float32",
    dtypes=floating,
    kernel=lambda a, b: make(a * m.cos(b), a * m.sin(b)),
    check="same_floats",
    grad=lambda g, a, b: (cpp.polar_abs_backward(g, b), cpp.polar_angle_backward(g, a, b)),
    ref=lambda a, b: a * np.exp(1j * b),
    samples=pairs(0, 3),
    writes=(),
    doc="The complex number of absolute value a and angle b.",
)

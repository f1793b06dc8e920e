"""Truth, bits and shifts; questions about single values."""

import numpy as np

from catalogue.dtypes import all_dtypes, bool_result, integral, integral_or_bool, real_or_bool
from catalogue.kinds import binary, compare, unary
from catalogue.samples import one, pairs
from codegen.primitives import (
    bitwise_left_shift,
    bitwise_right_shift,
    idiv,
    imaginary_part,
    is_complex,
    real_part,
    scalar,
    sign_bit,
    truth,
    where,
)

INF = float("inf")
_tensors = {"": "TT"}
_with_numbers = {"Tensor": "TT", "Scalar": "TS", "Scalar_Tensor": "ST"}


def _bits(s):
    return [s(s.ints(3, 5), s.ints(3, 5)), s(s.ints(3, 1), s.ints(5)), s(s.ints(7), 3), s(s.mask(4), s.mask(4))]


logical_and = compare(
    "logical_and",
    overloads=_tensors,
    kernel=lambda a, b: truth(a) & truth(b),
    ref=np.logical_and,
    samples=pairs(),
    doc="Whether both are nonzero.",
)
logical_or = compare(
    "logical_or",
    overloads=_tensors,
    kernel=lambda a, b: truth(a) | truth(b),
    ref=np.logical_or,
    samples=pairs(),
    doc="Whether one is nonzero.",
)
logical_xor = compare(
    "logical_xor",
    overloads=_tensors,
    kernel=lambda a, b: truth(a) ^ truth(b),
    ref=np.logical_xor,
    samples=pairs(),
    doc="Whether exactly one is nonzero.",
)
logical_not = unary(
    "logical_not",
    result=bool_result,
    kernel=lambda a: ~truth(a),
    ref=np.logical_not,
    samples=one(),
    doc="Whether a is zero.",
)
bitwise_and = binary(
    "bitwise_and",
    overloads=_with_numbers,
    operator="&",
    commutative=True,
    dtypes=integral_or_bool,
    kernel=lambda a, b: a & b,
    ref=np.bitwise_and,
    samples=_bits,
    doc="a & b",
)
bitwise_or = binary(
    "bitwise_or",
    overloads=_with_numbers,
    operator="|",
    commutative=True,
    dtypes=integral_or_bool,
    kernel=lambda a, b: a | b,
    ref=np.bitwise_or,
    samples=_bits,
    doc="a | b",
)
bitwise_xor = binary(
    "bitwise_xor",
    overloads=_with_numbers,
    operator="^",
    commutative=True,
    dtypes=integral_or_bool,
    kernel=lambda a, b: a ^ b,
    ref=np.bitwise_xor,
    samples=_bits,
    doc="a ^ b",
)
bitwise_not = unary(
    "bitwise_not",
    operator="~",
    dtypes=integral_or_bool,
    kernel=lambda a: ~a,
    ref=np.invert,
    samples=lambda s: [s(s.ints(3, 5)), s(s.mask(7))],
    writes=(),
    doc="~a",
)
gcd = binary(
    "gcd",
    overloads={"": "TT"},
    dtypes=integral,
    kernel=lambda a, b: scalar("gcd", a, b),
    ref=np.gcd,
    samples=lambda s: [s(s.ints(3, 5, low=-20, high=20), s.ints(3, 5)), s(s.ints(7), s.ints())],
    doc="The greatest common divisor.",
)


def _lcm(a, b):
    divisor = scalar("gcd", a, b)
    return abs(where(divisor == 0, 0, idiv(a, where(divisor == 0, 1, divisor)) * b))


lcm = binary(
    "lcm",
    overloads={"": "TT"},
    dtypes=integral,
    kernel=_lcm,
    ref=np.lcm,
    samples=lambda s: [s(s.ints(3, 5, low=-20, high=20), s.ints(3, 5)), s(s.ints(7), s.ints())],
    doc="The least common multiple.",
)
left_shift = binary(
    "bitwise_left_shift",
    overloads={"Tensor": "TT", "Tensor_Scalar": "TS", "Scalar_Tensor": "ST"},
    operator="<<",
    dtypes=integral,
    kernel=lambda a, b: bitwise_left_shift(a, b),
    ref=np.left_shift,
    samples=lambda s: [s(s.ints(3, 5), s.ints(3, 5)), s(s.ints(7), 3)],
    doc="a << b; 0 where b is negative or not below the width.",
)


def _right_shift(a, b):
    shifted = bitwise_right_shift(a, b)  # which leaves the first bit of what has no sign
    return where(b >= int(a.type[1:]), 0, shifted) if a.type[0] == "u" else shifted


right_shift = binary(
    "bitwise_right_shift",
    overloads={"Tensor": "TT", "Tensor_Scalar": "TS", "Scalar_Tensor": "ST"},
    operator=">>",
    dtypes=integral,
    kernel=_right_shift,
    ref=np.right_shift,
    samples=lambda s: [s(s.ints(3, 5), s.ints(3, 5)), s(s.ints(7), 3)],
    doc="a >> b; the sign alone where b is negative or not below the width.",
)


def _question(name, kernel, whole, ref, doc, **options):
    """A unary operator with a bool result, constant for integers."""
    return unary(
        name,
        inplace=False,
        result=bool_result,
        kernel=kernel,
        integer=lambda a: whole,
        boolean=lambda a: whole,
        ref=ref,
        samples=lambda s: [s(s.values(0.5, INF, -INF, float("nan"), -0.0, 0.0)), s(s.t(3, 5)), s(s.ints(4))],
        writes=(),
        doc=doc,
        **options,
    )


def _parts(a, test):
    return test(real_part(a)) | test(imaginary_part(a)) if is_complex(a) else test(a)


isnan = _question("isnan", lambda a: _parts(a, lambda x: x != x), False, np.isnan, "Whether a is NaN.", out=False)
isinf = _question(
    "isinf", lambda a: _parts(a, lambda x: abs(x) == INF), False, np.isinf, "Whether a is infinite.", out=False
)
isfinite = _question(
    "isfinite",
    lambda a: ~_parts(a, lambda x: ~(abs(x) < INF)),
    True,
    np.isfinite,
    "Whether a is neither infinite nor NaN.",
    out=False,
)
isposinf = _question("isposinf", lambda a: a == INF, False, np.isposinf, "Whether a is +inf.", dtypes=real_or_bool)
isneginf = _question("isneginf", lambda a: a == -INF, False, np.isneginf, "Whether a is -inf.", dtypes=real_or_bool)
isreal = unary(
    "isreal",
    inplace=False,
    out=False,
    result=bool_result,
    kernel=lambda a: True,
    integer=lambda a: True,
    boolean=lambda a: True,
    complex=lambda a: imaginary_part(a) == 0,
    ref=np.isreal,
    samples=one(),
    doc="Whether the imaginary part is zero.",
)
signbit = unary(
    "signbit",
    inplace=False,
    result=bool_result,
    dtypes=all_dtypes - {"Complex64", "Complex128"},
    kernel=lambda a: sign_bit(a),
    integer=lambda a: False if a.type[0] == "u" else a < 0,
    boolean=lambda a: False,
    ref=np.signbit,
    samples=lambda s: [s(s.values(0.5, -0.0, 0.0, -INF)), s(s.t(3, 5))],
    doc="Whether the sign bit is set.",
)

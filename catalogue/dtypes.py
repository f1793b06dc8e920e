"""Classes of element types, and the rules by which a result's type follows from the operands'.

Names are the runtime's (runtime/core/dtype.h); a class is a frozenset of them.
"""

from __future__ import annotations

from enum import Enum

ALL = (
    "Bool",
    "UInt8",
    "Int8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Float16",
    "BFloat16",
    "Float32",
    "Float64",
    "Complex64",
    "Complex128",
)

DTypes = frozenset[str]

boolean: DTypes = frozenset({"Bool"})
signed_integral: DTypes = frozenset({"Int8", "Int16", "Int32", "Int64"})
unsigned_integral: DTypes = frozenset({"UInt8", "UInt16", "UInt32", "UInt64"})
integral: DTypes = signed_integral | unsigned_integral
half: DTypes = frozenset({"Float16", "BFloat16"})
single_or_double: DTypes = frozenset({"Float32", "Float64"})
floating: DTypes = half | single_or_double
complex_: DTypes = frozenset({"Complex64", "Complex128"})
floating_or_complex: DTypes = floating | complex_
integral_or_bool: DTypes = integral | boolean
real: DTypes = integral | floating
real_or_bool: DTypes = real | boolean
numeric: DTypes = real | complex_
all_dtypes: DTypes = frozenset(ALL)


class Result(Enum):
    """How the result's dtype follows from the promoted dtype of the operands."""

    same = "Same"
    int_to_float = "IntToFloat"  # integers and bool give the default dtype
    bool_result = "Bool"
    int_to_int64 = "IntToInt64"
    real_part = "RealPart"  # complex64 gives float32
    float_to_int64 = "Int64"


same = Result.same
int_to_float = Result.int_to_float
bool_result = Result.bool_result
int_to_int64 = Result.int_to_int64
real_part = Result.real_part
int64_result = Result.float_to_int64

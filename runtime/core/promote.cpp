// Promotion of dtypes; see promote.h.
#include "runtime/core/promote.h"

#include <utility>

namespace vivace {

namespace {

constexpr bool is_wide_unsigned(DType t) { return t == DType::UInt16 || t == DType::UInt32 || t == DType::UInt64; }

/// 0 bool, 1 integer, 2 floating, 3 complex.
constexpr int class_of(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_integral(t) ? 1 : 0; }

/// Of integers other than the wide unsigned ones: the larger; uint8 with a signed type of its size needs the next one.
constexpr DType promote_integers(DType a, DType b) {
  if (a == DType::UInt8 && b == DType::Int8) return DType::Int16;
  return a < b ? b : a;
}

/// An operand of lower rank changes the result only if its class is higher (or the higher rank is bool, the lowest
/// class).
DType combine(DType higher, DType lower) {
  if (is_complex(higher)) return higher;
  if (is_floating(higher)) return is_complex(lower) ? complex_of(higher) : higher;
  if (is_complex(lower) && is_wide_unsigned(higher)) return lower;
  if (is_bool(higher) || is_floating(lower) || is_complex(lower)) return promote_types(higher, lower);
  return higher;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (is_complex(b)) {
    if (is_wide_unsigned(a))
      fail("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b);
    return a == DType::Float64 ? DType::Complex128 : b;
  }
  if (is_floating(b)) return a == DType::Float16 && b == DType::BFloat16 ? DType::Float32 : b;
  if (is_wide_unsigned(a) || is_wide_unsigned(b))
    fail("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b);
  return promote_integers(a, b);
}

bool can_cast(DType from, DType to) { return class_of(from) <= class_of(to); }

DType dtype_of(const Scalar& scalar) {
  switch (scalar.tag) {
    case Tag::Bool:
      return DType::Bool;
    case Tag::Int:
      return DType::Int64;
    case Tag::Complex:
      return complex_of(default_dtype);
    default:
      return default_dtype;
  }
}

DType ResultType::dtype() const {
  if (present_ == 0) fail("result_type needs at least one operand");
  int rank = 2;
  while (!(present_ & (1 << rank))) --rank;
  DType result = ranks_[rank];
  while (--rank >= 0)
    if (present_ & (1 << rank)) result = combine(ranks_[rank], result);
  return result;
}

}  // namespace vivace

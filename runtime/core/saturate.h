// Arithmetic on integers that callers may give at any size.
#pragma once
#include <cstdint>

namespace vivace {

/// a + b, or the nearest integer that there is.
inline int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/// stride * step, or stride where bytes could not be counted in 64 bits: a dim with such a step has one element at
/// most.
inline int64_t stepped(int64_t stride, int64_t step) {
  int64_t product, bytes;
  const bool overflows = __builtin_mul_overflow(stride, step, &product) || __builtin_mul_overflow(product, 16, &bytes);
  return overflows ? stride : product;
}

}  // namespace vivace

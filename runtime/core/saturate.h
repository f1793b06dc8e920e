// Sums of integers that callers may give at any size.
#pragma once
#include <cstdint>

namespace vivace {

/// a + b, or the nearest integer that there is.
inline int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

}  // namespace vivace

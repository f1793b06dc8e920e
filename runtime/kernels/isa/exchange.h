// Squares of as many vectors as a vector has lanes. Internal to a file of one instruction set.
#pragma once
#include "runtime/simd/vec.h"

namespace vivace {
namespace {

/// Rows become columns: exchanges the blocks of kWidth x kWidth lanes beside the diagonal, then those within each
/// block.
template <class T, int kWidth = lanes<T> / 2>
VIVACE_INLINE void exchange(Vec<T>* rows) {
  constexpr int kN = lanes<T>;
  Index<T> low{}, high{};
  for (int l = 0; l < kN; ++l) {
    low[l] = l & kWidth ? kN + l - kWidth : l;
    high[l] = l & kWidth ? kN + l : l + kWidth;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    if (i & kWidth) continue;
    const Vec<T> a = rows[i], b = rows[i + kWidth];
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + kWidth] = __builtin_shuffle(a, b, high);
  }
  if constexpr (kWidth > 1) exchange<T, kWidth / 2>(rows);
}

}  // namespace
}  // namespace vivace

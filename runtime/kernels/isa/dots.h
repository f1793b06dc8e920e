// Dot products of rows with columns that are contiguous as well, as many at once as registers hold. Internal to a file
// of one instruction set.
#pragma once
#include "runtime/simd/vec.h"

namespace vivace {
namespace {

/// Sums stay in registers only if every loop over them is unrolled.
#define VIVACE_UNROLL _Pragma("GCC unroll 8")

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kDotRows = 4, kDotColumns = 6;  // of 32 registers
#else
constexpr int kDotRows = 2, kDotColumns = 5;  // of 16
#endif

/// Combines the two halves again and again: log2(lanes) steps.
template <class T, class F>
VIVACE_INLINE T fold(Vec<T> v, F f) {
  for (int width = lanes<T> / 2; width > 0; width /= 2) {
    Index<T> upper{};
    for (int l = 0; l < lanes<T>; ++l) upper[l] = l ^ width;
    v = f(v, Vec<T>(__builtin_shuffle(v, upper)));
  }
  return v[0];
}
template <class T>
VIVACE_INLINE T total(Vec<T> v) {
  return fold<T>(v, [](Vec<T> a, Vec<T> b) { return a + b; });
}

/// put(r, k, sum of a[r][p] * columns[k][p] over n positions p)
template <class T, int kR, int kC, class F>
VIVACE_INLINE void dot_tile(int64_t n, const T* a, int64_t a_step, const T* const (&columns)[kC], F put) {
  Vec<T> sum[kR][kC] = {};
  const auto step = [&](int64_t p, auto read) __attribute__((always_inline)) {
    Vec<T> x[kR];
    VIVACE_UNROLL
    for (int r = 0; r < kR; ++r) x[r] = read(a + r * a_step + p);
    VIVACE_UNROLL
    for (int k = 0; k < kC; ++k) {
      const Vec<T> y = read(columns[k] + p);
      VIVACE_UNROLL
      for (int r = 0; r < kR; ++r) sum[r][k] = fma(x[r], y, sum[r][k]);
    }
  };
  int64_t p = 0;
  for (; p + lanes<T> <= n; p += lanes<T>) step(p, [](const T* q) { return load(q); });
  if (p < n) step(p, [&](const T* q) { return load_part(q, n - p); });
  VIVACE_UNROLL
  for (int r = 0; r < kR; ++r) {
    VIVACE_UNROLL
    for (int k = 0; k < kC; ++k) put(r, k, total<T>(sum[r][k]));
  }
}

/// Calls f.template operator()<count>(first) on blocks of kDotColumns, 3 and 1 that make up `columns`.
template <class F>
VIVACE_INLINE void column_blocks(int64_t columns, F f) {
  int64_t k = 0;
  for (; k + kDotColumns <= columns; k += kDotColumns) f.template operator()<kDotColumns>(k);
  for (; k + 3 <= columns; k += 3) f.template operator()<3>(k);
  for (; k < columns; ++k) f.template operator()<1>(k);
}

}  // namespace
}  // namespace vivace

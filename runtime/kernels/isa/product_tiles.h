// Products of small matrices in register tiles, for elements of any arithmetic. Internal to a file of one instruction
// set.
#pragma once
#include "runtime/kernels/isa/dots.h"

namespace vivace {
namespace {

/// a * b + sum; integers wrap around.
template <class V>
VIVACE_INLINE V added_product(V a, V b, V sum) {
  if constexpr (Element<V>(0.5) != 0)
    return fma(a, b, sum);
  else
    return add(mul(a, b), sum);
}

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kWide = 4;  // vectors of the widest tile: of 32 registers
#else
constexpr int kWide = 2;  // of 16
#endif

template <class T, int kRows, int kVectors, bool kPart>
VIVACE_INLINE void gemm_tile(int64_t k, int64_t left, T alpha, const T* a, int64_t a_rows, int64_t a_cols, const T* b,
                             int64_t b_rows, T beta, const T* added, int64_t added_rows, T* c, int64_t c_rows) {
  constexpr int kN = lanes<T>;
  Vec<T> sum[kRows][kVectors] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> row[kVectors];
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v)
      row[v] = kPart && v == kVectors - 1 ? load_part(b + p * b_rows + v * kN, left) : load(b + p * b_rows + v * kN);
    VIVACE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const Vec<T> x = splat(a[r * a_rows + p * a_cols]);
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[r][v] = added_product(x, row[v], sum[r][v]);
    }
  }
  VIVACE_UNROLL
  for (int r = 0; r < kRows; ++r) VIVACE_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    T* to = c + r * c_rows + v * kN;
    const T* from = added + r * added_rows + v * kN;
    Vec<T> y = mul(sum[r][v], splat(alpha));
    const bool part = kPart && v == kVectors - 1;
    if (beta != 0) y = added_product(splat(beta), part ? load_part(from, left) : load(from), y);
    if (part)
      store_part(to, y, left);
    else
      store(to, y);
  }
}

/// Rows of a tile of so many vectors: enough sums to keep the units busy, few enough for the registers.
constexpr int tile_rows(int vectors) { return vectors <= kWide / 2 ? 8 : 4; }

template <class T, int kRows, int kVectors, bool kPart>
VIVACE_INLINE int64_t gemm_rows(int64_t i, int64_t m, int64_t k, int64_t left, T alpha, const T* a, int64_t a_rows,
                                int64_t a_cols, const T* b, int64_t b_rows, T beta, const T* added, int64_t added_rows,
                                T* c, int64_t c_rows) {
  for (; i + kRows <= m; i += kRows)
    gemm_tile<T, kRows, kVectors, kPart>(k, left, alpha, a + i * a_rows, a_rows, a_cols, b, b_rows, beta,
                                         added + i * added_rows, added_rows, c + i * c_rows, c_rows);
  return i;
}

template <class T, int kVectors, bool kPart>
[[gnu::noinline]] void gemm_columns(int64_t m, int64_t k, int64_t left, T alpha, const T* a, int64_t a_rows,
                                    int64_t a_cols, const T* b, int64_t b_rows, T beta, const T* added,
                                    int64_t added_rows, T* c, int64_t c_rows) {
  int64_t i = 0;
  if constexpr (tile_rows(kVectors) > 4)
    i = gemm_rows<T, tile_rows(kVectors), kVectors, kPart>(i, m, k, left, alpha, a, a_rows, a_cols, b, b_rows, beta,
                                                           added, added_rows, c, c_rows);
  i = gemm_rows<T, 4, kVectors, kPart>(i, m, k, left, alpha, a, a_rows, a_cols, b, b_rows, beta, added, added_rows, c,
                                       c_rows);
  gemm_rows<T, 1, kVectors, kPart>(i, m, k, left, alpha, a, a_rows, a_cols, b, b_rows, beta, added, added_rows, c,
                                   c_rows);
}

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_rows, int64_t a_cols, const T* b,
          int64_t b_rows, T beta, const T* added, int64_t added_rows, T* c, int64_t c_rows) {
  constexpr int kN = lanes<T>;
  int64_t j = 0;
  const auto columns = [&]<int kVectors, bool kPart>() __attribute__((always_inline)) {
    gemm_columns<T, kVectors, kPart>(m, k, n - j, alpha, a, a_rows, a_cols, b + j, b_rows, beta, added + j, added_rows,
                                     c + j, c_rows);
    j += kVectors * kN;
  };
  while (j + kWide * kN <= n) columns.template operator()<kWide, false>();
  if constexpr (kWide > 2)
    if (j + 2 * kN <= n) columns.template operator()<2, false>();
  if (j + kN <= n) columns.template operator()<1, false>();
  if (j < n) columns.template operator()<1, true>();
}

}  // namespace
}  // namespace vivace

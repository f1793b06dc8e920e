// The loops of bfloat16.h: a tile of sums in registers, to which an instruction adds products of two pairs at a time.
#include "runtime/kernels/isa/bfloat16.h"

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

namespace vivace {
namespace {

using bfloat16::kColumns;
using bfloat16::kRows;

#define VIVACE_BFLOAT16 [[gnu::target("avx512bf16")]]
#define VIVACE_UNROLL _Pragma("GCC unroll 8")

template <int kR, int kVectors>
VIVACE_BFLOAT16 void tile(int64_t pairs, const uint32_t* a, int64_t a_row, const uint32_t* b, float* sums,
                          int64_t sums_row) {
  __m512 sum[kR][kVectors];
  VIVACE_UNROLL
  for (int r = 0; r < kR; ++r) VIVACE_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_setzero_ps();
  for (int64_t p = 0; p < pairs; ++p, b += kColumns) {
    __m512bh y[kVectors];
    VIVACE_UNROLL
    for (int v = 0; v < kVectors; ++v) y[v] = (__m512bh)_mm512_loadu_si512(b + 16 * v);
    VIVACE_UNROLL
    for (int r = 0; r < kR; ++r) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(int(a[r * a_row + p]));
      VIVACE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, y[v]);
    }
  }
  VIVACE_UNROLL
  for (int r = 0; r < kR; ++r) VIVACE_UNROLL
  for (int v = 0; v < kVectors; ++v) _mm512_storeu_ps(sums + r * sums_row + 16 * v, sum[r][v]);
}

template <int kVectors>
VIVACE_BFLOAT16 void panel_of(int64_t rows, int64_t pairs, const uint32_t* a, int64_t a_row, const uint32_t* b,
                              float* sums) {
  int64_t r = 0;
  const auto tiles = [&]<int kR>() VIVACE_BFLOAT16 {
    for (; r + kR <= rows; r += kR) tile<kR, kVectors>(pairs, a + r * a_row, a_row, b, sums + r * kColumns, kColumns);
  };
  tiles.template operator()<int(kRows)>();
  tiles.template operator()<4>();
  tiles.template operator()<1>();
}

void panel(int64_t rows, int64_t columns, int64_t pairs, const uint32_t* a, int64_t a_row, const uint32_t* b,
           float* sums) {
  const auto run = columns <= 16 ? panel_of<1> : columns <= 32 ? panel_of<2> : panel_of<3>;
  run(rows, pairs, a, a_row, b, sums);
}

void narrow(int64_t rows, int64_t columns, const float* sums, uint16_t* to, int64_t to_row) {
  const __m512i even = _mm512_set1_epi32(0x7fff), one = _mm512_set1_epi32(1), nan = _mm512_set1_epi32(0x7fc0);
  for (int64_t r = 0; r < rows; ++r, sums += kColumns, to += to_row)
    for (int64_t i = 0; i < columns; i += 16) {
      const __mmask16 kept = __mmask16(columns - i >= 16 ? 0xffff : (1u << (columns - i)) - 1);
      const __m512 x = _mm512_loadu_ps(sums + i);
      const __m512i bits = _mm512_castps_si512(x), last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
      const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, even), last), 16);
      const __m512i result = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
      _mm256_mask_storeu_epi16(to + i, kept, _mm512_cvtepi32_epi16(result));
    }
}

void interleave(const uint16_t* even, const uint16_t* odd, uint32_t* to, int64_t n) {
  const __m512i zero = _mm512_setzero_si512();
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 kept = __mmask16(n - i >= 16 ? 0xffff : (1u << (n - i)) - 1);
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(kept, even + i));
    const __m512i high = odd ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(kept, odd + i)) : zero;
    _mm512_mask_storeu_epi32(to + i, kept, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

}  // namespace

namespace avx512 {
extern const bfloat16::Loops bfloat16_loops;
const bfloat16::Loops bfloat16_loops = {panel, interleave, narrow};
}  // namespace avx512

}  // namespace vivace

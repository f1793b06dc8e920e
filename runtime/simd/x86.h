// What vector operators cannot say, for SSE2, AVX2 + FMA and AVX-512 (F, BW, DQ, VL). Included by vec.h only.
#pragma once
// GCC's own "undefined" vectors in this header look uninitialised to it.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

namespace vivace {
namespace {

#if defined(__AVX512F__)
#define VIVACE_X86(sse, avx, avx512) avx512
#elif defined(__AVX2__)
#define VIVACE_X86(sse, avx, avx512) avx
#else
#define VIVACE_X86(sse, avx, avx512) sse
#endif

VIVACE_INLINE f32 sqrt(f32 x) { return f32(VIVACE_X86(_mm_sqrt_ps, _mm256_sqrt_ps, _mm512_sqrt_ps)(x)); }
VIVACE_INLINE f64 sqrt(f64 x) { return f64(VIVACE_X86(_mm_sqrt_pd, _mm256_sqrt_pd, _mm512_sqrt_pd)(x)); }
// The instructions give the second operand where one is NaN.
VIVACE_INLINE f32 max_or_second(f32 a, f32 b) {
  return f32(VIVACE_X86(_mm_max_ps, _mm256_max_ps, _mm512_max_ps)(a, b));
}
VIVACE_INLINE f64 max_or_second(f64 a, f64 b) {
  return f64(VIVACE_X86(_mm_max_pd, _mm256_max_pd, _mm512_max_pd)(a, b));
}
VIVACE_INLINE f32 min_or_second(f32 a, f32 b) {
  return f32(VIVACE_X86(_mm_min_ps, _mm256_min_ps, _mm512_min_ps)(a, b));
}
VIVACE_INLINE f64 min_or_second(f64 a, f64 b) {
  return f64(VIVACE_X86(_mm_min_pd, _mm256_min_pd, _mm512_min_pd)(a, b));
}
VIVACE_INLINE f32 maximum(f32 a, f32 b) { return where(a != a, a, max_or_second(a, b)); }
VIVACE_INLINE f64 maximum(f64 a, f64 b) { return where(a != a, a, max_or_second(a, b)); }
VIVACE_INLINE f32 minimum(f32 a, f32 b) { return where(a != a, a, min_or_second(a, b)); }
VIVACE_INLINE f64 minimum(f64 a, f64 b) { return where(a != a, a, min_or_second(a, b)); }

/// At least low, at most high; NaN stays.
template <class V>
VIVACE_INLINE V bound(V x, V low, V high) {
  return min_or_second(high, max_or_second(low, x));
}

#if defined(__FMA__)
inline constexpr bool kHasFma = true;
VIVACE_INLINE f32 fma(f32 a, f32 b, f32 c) { return f32(VIVACE_X86(, _mm256_fmadd_ps, _mm512_fmadd_ps)(a, b, c)); }
VIVACE_INLINE f64 fma(f64 a, f64 b, f64 c) { return f64(VIVACE_X86(, _mm256_fmadd_pd, _mm512_fmadd_pd)(a, b, c)); }
#else
inline constexpr bool kHasFma = false;
VIVACE_INLINE f32 fma(f32 a, f32 b, f32 c) { return a * b + c; }
VIVACE_INLINE f64 fma(f64 a, f64 b, f64 c) { return a * b + c; }
#endif

#if defined(__AVX2__)
#define VIVACE_ROUND(name, mode)                                                                  \
  VIVACE_INLINE f32 name(f32 x) {                                                                 \
    return f32(VIVACE_X86(, _mm256_round_ps, _mm512_roundscale_ps)(x, mode | _MM_FROUND_NO_EXC)); \
  }                                                                                               \
  VIVACE_INLINE f64 name(f64 x) {                                                                 \
    return f64(VIVACE_X86(, _mm256_round_pd, _mm512_roundscale_pd)(x, mode | _MM_FROUND_NO_EXC)); \
  }
VIVACE_ROUND(round, _MM_FROUND_TO_NEAREST_INT)
VIVACE_ROUND(floor, _MM_FROUND_TO_NEG_INF)
VIVACE_ROUND(ceil, _MM_FROUND_TO_POS_INF)
VIVACE_ROUND(trunc, _MM_FROUND_TO_ZERO)
#undef VIVACE_ROUND
#else
// Adding 2^23 (2^52) leaves no fraction bits; larger values have none to begin with. The sign survives for -0.
VIVACE_INLINE f32 round(f32 x) {
  const f32 m = abs(x);
  return where(m < 0x1p23f, with_sign((m + 0x1p23f) - 0x1p23f, x), x);
}
VIVACE_INLINE f64 round(f64 x) {
  const f64 m = abs(x);
  return where(m < 0x1p52, with_sign((m + 0x1p52) - 0x1p52, x), x);
}
template <class V>
VIVACE_INLINE V trunc(V x) {
  const V m = abs(x), r = round(m);
  return with_sign(where(r > m, r - 1, r), x);
}
template <class V>
VIVACE_INLINE V floor(V x) {
  const V r = round(x);
  return where(r > x, r - 1, r);
}
template <class V>
VIVACE_INLINE V ceil(V x) {
  const V r = round(x);
  return where(r < x, with_sign(abs(r + 1), x), r);
}
#endif

/// Towards zero; what does not fit gives the least integer. f64 without AVX-512: |x| < 2^51 only.
VIVACE_INLINE i32 to_integer(f32 x) {
  return i32(VIVACE_X86(_mm_cvttps_epi32, _mm256_cvttps_epi32, _mm512_cvttps_epi32)(x));
}
VIVACE_INLINE f32 to_floating(i32 x) { return __builtin_convertvector(x, f32); }
#if defined(__AVX512F__)
VIVACE_INLINE i64 to_integer(f64 x) { return i64(_mm512_cvttpd_epi64(x)); }
#else
VIVACE_INLINE i64 to_integer(f64 x) {
  const f64 magic = f64{} + 0x1.8p52;
  return i64(trunc(x) + magic) - i64(magic);
}
#endif
VIVACE_INLINE f64 to_floating(i64 x) { return __builtin_convertvector(x, f64); }

/// x * 2^n for whole n; |n| <= 250 (2000 for f64).
#if defined(__AVX512F__)
VIVACE_INLINE f32 scale(f32 x, f32 n) { return f32(_mm512_scalef_ps(x, n)); }
VIVACE_INLINE f64 scale(f64 x, f64 n) { return f64(_mm512_scalef_pd(x, n)); }
#else
VIVACE_INLINE f32 scale(f32 x, f32 n) { return scale_twice(x, to_integer(n)); }
VIVACE_INLINE f64 scale(f64 x, f64 n) { return scale_twice(x, to_integer(n)); }
#endif

#if defined(__AVX512F__)
VIVACE_INLINE bool any(m32 m) { return _mm512_movepi32_mask(__m512i(m)) != 0; }
VIVACE_INLINE bool any(m64 m) { return _mm512_movepi64_mask(__m512i(m)) != 0; }
#elif defined(__AVX2__)
VIVACE_INLINE bool any(m32 m) { return _mm256_movemask_ps(__m256(m)) != 0; }
VIVACE_INLINE bool any(m64 m) { return _mm256_movemask_pd(__m256d(m)) != 0; }
#else
VIVACE_INLINE bool any(m32 m) { return _mm_movemask_ps(__m128(m)) != 0; }
VIVACE_INLINE bool any(m64 m) { return _mm_movemask_pd(__m128d(m)) != 0; }
#endif

// ---- the first `left` lanes: none of the memory beyond them is touched

#if defined(__AVX512F__)
VIVACE_INLINE __mmask16 first16(int64_t left) { return __mmask16((1u << left) - 1); }
VIVACE_INLINE __mmask8 first8(int64_t left) { return __mmask8((1u << left) - 1); }
VIVACE_INLINE f32 load_part(const float* p, int64_t left) { return f32(_mm512_maskz_loadu_ps(first16(left), p)); }
VIVACE_INLINE f64 load_part(const double* p, int64_t left) { return f64(_mm512_maskz_loadu_pd(first8(left), p)); }
VIVACE_INLINE i32 load_part(const int32_t* p, int64_t left) { return i32(_mm512_maskz_loadu_epi32(first16(left), p)); }
VIVACE_INLINE i64 load_part(const int64_t* p, int64_t left) { return i64(_mm512_maskz_loadu_epi64(first8(left), p)); }
VIVACE_INLINE void store_part(float* p, f32 v, int64_t left) { _mm512_mask_storeu_ps(p, first16(left), v); }
VIVACE_INLINE void store_part(double* p, f64 v, int64_t left) { _mm512_mask_storeu_pd(p, first8(left), v); }
VIVACE_INLINE void store_part(int32_t* p, i32 v, int64_t left) {
  _mm512_mask_storeu_epi32(p, first16(left), __m512i(v));
}
VIVACE_INLINE void store_part(int64_t* p, i64 v, int64_t left) {
  _mm512_mask_storeu_epi64(p, first8(left), __m512i(v));
}
#elif defined(__AVX2__)
alignas(32) const int32_t kWindow[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
VIVACE_INLINE __m256i first8(int64_t left) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kWindow + 8 - left));
}
VIVACE_INLINE __m256i first4(int64_t left) { return first8(2 * left); }
VIVACE_INLINE f32 load_part(const float* p, int64_t left) { return f32(_mm256_maskload_ps(p, first8(left))); }
VIVACE_INLINE f64 load_part(const double* p, int64_t left) { return f64(_mm256_maskload_pd(p, first4(left))); }
VIVACE_INLINE i32 load_part(const int32_t* p, int64_t left) { return i32(_mm256_maskload_epi32(p, first8(left))); }
VIVACE_INLINE i64 load_part(const int64_t* p, int64_t left) {
  return i64(_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), first4(left)));
}
VIVACE_INLINE void store_part(float* p, f32 v, int64_t left) { _mm256_maskstore_ps(p, first8(left), v); }
VIVACE_INLINE void store_part(double* p, f64 v, int64_t left) { _mm256_maskstore_pd(p, first4(left), v); }
VIVACE_INLINE void store_part(int32_t* p, i32 v, int64_t left) { _mm256_maskstore_epi32(p, first8(left), __m256i(v)); }
VIVACE_INLINE void store_part(int64_t* p, i64 v, int64_t left) {
  _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), first4(left), __m256i(v));
}
#endif
}  // namespace
}  // namespace vivace

// What vector operators cannot say, for NEON (aarch64). Included by vec.h only.
#pragma once
#include <arm_neon.h>

namespace vivace {
namespace {

inline constexpr bool kHasFma = true;

VIVACE_INLINE f32 sqrt(f32 x) { return f32(vsqrtq_f32(float32x4_t(x))); }
VIVACE_INLINE f64 sqrt(f64 x) { return f64(vsqrtq_f64(float64x2_t(x))); }
VIVACE_INLINE f32 fma(f32 a, f32 b, f32 c) { return f32(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b))); }
VIVACE_INLINE f64 fma(f64 a, f64 b, f64 c) { return f64(vfmaq_f64(float64x2_t(c), float64x2_t(a), float64x2_t(b))); }
// The instructions give NaN where an operand is NaN.
VIVACE_INLINE f32 maximum(f32 a, f32 b) { return f32(vmaxq_f32(float32x4_t(a), float32x4_t(b))); }
VIVACE_INLINE f64 maximum(f64 a, f64 b) { return f64(vmaxq_f64(float64x2_t(a), float64x2_t(b))); }
VIVACE_INLINE f32 minimum(f32 a, f32 b) { return f32(vminq_f32(float32x4_t(a), float32x4_t(b))); }
VIVACE_INLINE f64 minimum(f64 a, f64 b) { return f64(vminq_f64(float64x2_t(a), float64x2_t(b))); }
VIVACE_INLINE f32 round(f32 x) { return f32(vrndnq_f32(float32x4_t(x))); }
VIVACE_INLINE f64 round(f64 x) { return f64(vrndnq_f64(float64x2_t(x))); }
VIVACE_INLINE f32 floor(f32 x) { return f32(vrndmq_f32(float32x4_t(x))); }
VIVACE_INLINE f64 floor(f64 x) { return f64(vrndmq_f64(float64x2_t(x))); }
VIVACE_INLINE f32 ceil(f32 x) { return f32(vrndpq_f32(float32x4_t(x))); }
VIVACE_INLINE f64 ceil(f64 x) { return f64(vrndpq_f64(float64x2_t(x))); }
VIVACE_INLINE f32 trunc(f32 x) { return f32(vrndq_f32(float32x4_t(x))); }
VIVACE_INLINE f64 trunc(f64 x) { return f64(vrndq_f64(float64x2_t(x))); }

VIVACE_INLINE i32 to_integer(f32 x) { return i32(vcvtq_s32_f32(float32x4_t(x))); }
VIVACE_INLINE i64 to_integer(f64 x) { return i64(vcvtq_s64_f64(float64x2_t(x))); }
VIVACE_INLINE f32 to_floating(i32 x) { return __builtin_convertvector(x, f32); }
VIVACE_INLINE f64 to_floating(i64 x) { return __builtin_convertvector(x, f64); }

template <class V>
VIVACE_INLINE V bound(V x, V low, V high) {
  return where(x < low, low, where(x > high, high, x));
}
VIVACE_INLINE f32 scale(f32 x, f32 n) { return scale_twice(x, to_integer(n)); }
VIVACE_INLINE f64 scale(f64 x, f64 n) { return scale_twice(x, to_integer(n)); }

VIVACE_INLINE bool any(m32 m) { return vmaxvq_u32(uint32x4_t(m)) != 0; }
VIVACE_INLINE bool any(m64 m) { return vmaxvq_u32(uint32x4_t(m)) != 0; }

}  // namespace
}  // namespace vivace

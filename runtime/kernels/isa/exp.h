// exp of a vector for hand-written kernels, within 1 ULP; results below the smallest normal number are gradual.
#pragma once
#include "runtime/simd/vec.h"

namespace vivace {
namespace {

/// x * 2^n by two factors, so that neither leaves the range of exponents.
VIVACE_INLINE f32 scale_by_power(f32 x, i32 n) {
  const i32 half = n >> 1;
  return x * bitcast<f32>((half + 127) << 23) * bitcast<f32>((n - half + 127) << 23);
}
VIVACE_INLINE f64 scale_by_power(f64 x, i64 n) {
  const i64 half = n >> 1;
  return x * bitcast<f64>((half + 1023) << 52) * bitcast<f64>((n - half + 1023) << 52);
}

/// Taylor's series after x = n * log(2) + r with |r| <= log(2) / 2.
VIVACE_INLINE f32 vexp(f32 x) {
  x = where(x < -104.0f, splat(-104.0f), x);
  x = where(x > 89.0f, splat(89.0f), x);
  const f32 n = round(x * 1.442695041f);
  const f32 r = fma(n, splat(-1.428606820e-6f), fma(n, splat(-0.693145752f), x));
  f32 p = splat(1.0f / 5040);
  p = fma(p, r, splat(1.0f / 720));
  p = fma(p, r, splat(1.0f / 120));
  p = fma(p, r, splat(1.0f / 24));
  p = fma(p, r, splat(1.0f / 6));
  p = fma(p, r, splat(0.5f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
  return scale_by_power(p, to_integer(n));
}
VIVACE_INLINE f64 vexp(f64 x) {
  x = where(x < -746.0, splat(-746.0), x);
  x = where(x > 710.0, splat(710.0), x);
  const f64 n = round(x * 1.4426950408889634);
  const f64 r = fma(n, splat(-1.90821492927058770002e-10), fma(n, splat(-6.93147180369123816490e-01), x));
  f64 p{};
  constexpr double kTerms[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  for (double term : kTerms) p = fma(p, r, splat(term));
  return scale_by_power(p, to_integer(n));
}

}  // namespace
}  // namespace vivace

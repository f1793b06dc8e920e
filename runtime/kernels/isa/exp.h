// exp and log of a vector for hand-written kernels, within 1 ULP; exp's results below the smallest normal number are
// gradual.
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

/// For x >= 1, infinity and NaN: 2 atanh(s) + n * log(2) with x = m * 2^n, s = (m - 1) / (m + 1) and m around 1.
VIVACE_INLINE f32 vlog(f32 x) {
  const i32 n = (bitcast<i32>(x) - 0x3f3504f3) >> 23;
  const f32 m = bitcast<f32>(bitcast<i32>(x) - (n << 23)), power = to_floating(n);
  const f32 f = m - 1.0f, s = f / (m + 1.0f), t = s * s;
  f32 p = splat(2.0f / 9);
  p = fma(p, t, splat(2.0f / 7));
  p = fma(p, t, splat(2.0f / 5));
  p = fma(p, t, splat(2.0f / 3));
  // 2 s = f - s f, of which f is exact.
  const f32 rest = fma(s, t * p - f, power * 1.428606820e-6f);
  return where(x - x == 0, fma(power, splat(0.693145752f), f + rest), x);
}
VIVACE_INLINE f64 vlog(f64 x) {
  for (int l = 0; l < lanes<double>; ++l) x[l] = __builtin_log(x[l]);
  return x;
}

}  // namespace
}  // namespace vivace

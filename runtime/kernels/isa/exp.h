// exp, log and what follows from them, of a vector, for hand-written kernels: exp and log within 1 ULP, tanh and
// sigmoid within 3; exp's results below the smallest normal number are gradual.
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

/// x = n * log(2) + r with |r| <= log(2) / 2, and (exp(r) - 1) / r by Taylor's series.
struct Reduced32 {
  f32 n, r, slope;
};
VIVACE_INLINE Reduced32 reduce_exp(f32 x) {
  const f32 n = round(x * 1.442695041f);
  const f32 r = fma(n, splat(-1.428606820e-6f), fma(n, splat(-0.693145752f), x));
  f32 p = splat(1.0f / 5040);
  p = fma(p, r, splat(1.0f / 720));
  p = fma(p, r, splat(1.0f / 120));
  p = fma(p, r, splat(1.0f / 24));
  p = fma(p, r, splat(1.0f / 6));
  p = fma(p, r, splat(0.5f));
  return {n, r, fma(p, r, splat(1.0f))};
}
struct Reduced64 {
  f64 n, r, slope;
};
VIVACE_INLINE Reduced64 reduce_exp(f64 x) {
  const f64 n = round(x * 1.4426950408889634);
  const f64 r = fma(n, splat(-1.90821492927058770002e-10), fma(n, splat(-6.93147180369123816490e-01), x));
  f64 p{};
  constexpr double kTerms[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0};
  for (double term : kTerms) p = fma(p, r, splat(term));
  return {n, r, p};
}

VIVACE_INLINE f32 vexp(f32 x) {
  x = where(x < -104.0f, splat(-104.0f), x);
  x = where(x > 89.0f, splat(89.0f), x);
  const Reduced32 e = reduce_exp(x);
  return scale_by_power(fma(e.slope, e.r, splat(1.0f)), to_integer(e.n));
}
VIVACE_INLINE f64 vexp(f64 x) {
  x = where(x < -746.0, splat(-746.0), x);
  x = where(x > 710.0, splat(710.0), x);
  const Reduced64 e = reduce_exp(x);
  return scale_by_power(fma(e.slope, e.r, splat(1.0)), to_integer(e.n));
}

template <class V>
VIVACE_INLINE V vsigmoid(V x) {
  return Element<V>(1) / (Element<V>(1) + vexp(-x));
}
/// e / (e + 2) with e = exp(2 |x|) - 1; from 20 on the result is 1.
template <class V>
VIVACE_INLINE V vtanh(V x) {
  using T = Element<V>;
  V doubled = abs(x) * T(2);
  doubled = where(doubled > T(40), splat(T(40)), doubled);
  const auto reduced = reduce_exp(doubled);
  const V power = scale_by_power(splat(T(1)), to_integer(reduced.n));
  const V e = fma(power, reduced.slope * reduced.r, power - T(1));
  return with_sign(e / (e + T(2)), x);
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

// Stockham's passes over vectors of complex numbers, each lane a transform of its own. Internal to a file of one
// instruction set.
#pragma once
#include "runtime/kernels/isa/dots.h"
#include "runtime/kernels/isa/fft.h"

namespace vivace {
namespace {

template <class T>
struct Pair {
  Vec<T> re, im;
};

template <class T>
VIVACE_INLINE Pair<T> operator+(Pair<T> a, Pair<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
VIVACE_INLINE Pair<T> operator-(Pair<T> a, Pair<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
VIVACE_INLINE Pair<T> product(Pair<T> a, Vec<T> re, Vec<T> im) {
  return {fma(a.re, re, -(a.im * im)), fma(a.re, im, a.im * re)};
}
/// -i a
template <class T>
VIVACE_INLINE Pair<T> turned(Pair<T> a) {
  return {a.im, -a.re};
}
/// a + scale * b
template <class T>
VIVACE_INLINE Pair<T> add_scaled(Pair<T> a, T scale, Pair<T> b) {
  return {fma(splat(scale), b.re, a.re), fma(splat(scale), b.im, a.im)};
}
template <class T>
VIVACE_INLINE Pair<T> scaled(T scale, Pair<T> a) {
  return {scale * a.re, scale * a.im};
}

template <class T>
VIVACE_INLINE void butterfly(Pair<T> (&x)[2]) {
  const Pair<T> a = x[0];
  x[0] = a + x[1];
  x[1] = a - x[1];
}

template <class T>
VIVACE_INLINE void butterfly(Pair<T> (&x)[3]) {
  constexpr T kSin = T(0.866025403784438646763723170752936183L);  // of 2 pi / 3
  const Pair<T> sum = x[1] + x[2], odd = turned(x[1] - x[2]), middle = add_scaled(x[0], T(-0.5), sum);
  x[0] = x[0] + sum;
  x[1] = add_scaled(middle, kSin, odd);
  x[2] = add_scaled(middle, -kSin, odd);
}

template <class T>
VIVACE_INLINE void butterfly(Pair<T> (&x)[4]) {
  const Pair<T> even = x[0] + x[2], difference = x[0] - x[2], odd = x[1] + x[3], other = turned(x[1] - x[3]);
  x[0] = even + odd;
  x[1] = difference + other;
  x[2] = even - odd;
  x[3] = difference - other;
}

template <class T>
VIVACE_INLINE void butterfly(Pair<T> (&x)[5]) {
  constexpr T kCos1 = T(0.309016994374947424102293417182819059L), kSin1 = T(0.951056516295153572116439333379382143L);
  constexpr T kCos2 = T(-0.809016994374947424102293417182819059L), kSin2 = T(0.587785252292473129168705954639072769L);
  const Pair<T> near = x[1] + x[4], far = x[2] + x[3], a = turned(x[1] - x[4]), b = turned(x[2] - x[3]);
  const Pair<T> even1 = add_scaled(add_scaled(x[0], kCos1, near), kCos2, far);
  const Pair<T> even2 = add_scaled(add_scaled(x[0], kCos2, near), kCos1, far);
  const Pair<T> odd1 = add_scaled(scaled(kSin1, a), kSin2, b), odd2 = add_scaled(scaled(kSin2, a), -kSin1, b);
  x[0] = x[0] + near + far;
  x[1] = even1 + odd1;
  x[2] = even2 + odd2;
  x[3] = even2 - odd2;
  x[4] = even1 - odd1;
}

template <class T>
VIVACE_INLINE void butterfly(Pair<T> (&x)[8]) {
  constexpr T kHalf = T(0.707106781186547524400844362104849039L);  // sqrt(1 / 2)
  Pair<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
  butterfly(even);
  butterfly(odd);
  odd[1] = scaled(kHalf, odd[1] + turned(odd[1]));
  odd[2] = turned(odd[2]);
  odd[3] = scaled(kHalf, turned(odd[3]) - odd[3]);
  VIVACE_UNROLL
  for (int k = 0; k < 4; ++k) {
    x[k] = even[k] + odd[k];
    x[k + 4] = even[k] - odd[k];
  }
}

template <int kRadix, class T>
void pass(const dense::FftPass<T>& p, const Pair<T>* from, Pair<T>* to) {
  const int64_t gap = p.groups * p.stride;
  const T* w = p.twiddles;
  for (int64_t group = 0; group < p.groups; ++group, w += 2 * (kRadix - 1), to += p.stride * (kRadix - 1))
    for (int64_t q = 0; q < p.stride; ++q, ++from, ++to) {
      Pair<T> x[kRadix];
      VIVACE_UNROLL
      for (int k = 0; k < kRadix; ++k) x[k] = from[k * gap];
      butterfly(x);
      to[0] = x[0];
      if (group == 0) {  // whose twiddles are 1
        VIVACE_UNROLL
        for (int k = 1; k < kRadix; ++k) to[k * p.stride] = x[k];
      } else {
        VIVACE_UNROLL
        for (int k = 1; k < kRadix; ++k) to[k * p.stride] = product(x[k], splat(w[2 * k - 2]), splat(w[2 * k - 1]));
      }
    }
}

/// Any odd radix: elements j and radix - j share their cosines, and their sines but for the sign.
template <class T>
void odd_pass(const dense::FftPass<T>& p, const Pair<T>* from, Pair<T>* to) {
  const int64_t gap = p.groups * p.stride;
  const int half = p.radix / 2;
  const T* w = p.twiddles;
  Pair<T> sums[dense::kLargestRadix / 2], odds[dense::kLargestRadix / 2];
  for (int64_t group = 0; group < p.groups; ++group, w += 2 * (p.radix - 1), to += p.stride * (p.radix - 1))
    for (int64_t q = 0; q < p.stride; ++q, ++from, ++to) {
      Pair<T> all = from[0];
      for (int j = 0; j < half; ++j) {
        const Pair<T> low = from[(j + 1) * gap], high = from[(p.radix - 1 - j) * gap];
        sums[j] = low + high;
        odds[j] = turned(low - high);
        all = all + sums[j];
      }
      to[0] = all;
      for (int k = 1; k <= half; ++k) {
        Pair<T> even = from[0], odd{};
        for (int j = 0, at = k; j < half; ++j, at += k - (at + k >= p.radix ? p.radix : 0)) {
          even = add_scaled(even, p.roots[2 * at], sums[j]);
          odd = add_scaled(odd, -p.roots[2 * at + 1], odds[j]);
        }
        const int mirrored = p.radix - k;
        to[k * p.stride] = product(even + odd, splat(w[2 * k - 2]), splat(w[2 * k - 1]));
        to[mirrored * p.stride] = product(even - odd, splat(w[2 * mirrored - 2]), splat(w[2 * mirrored - 1]));
      }
    }
}

/// Where the transform of x stands in the end: in x or y.
template <class T>
Pair<T>* transformed(const dense::FftPasses<T>& passes, Pair<T>* x, Pair<T>* y) {
  for (int i = 0; i < passes.count; ++i) {
    const dense::FftPass<T>& p = passes.passes[i];
    const auto run = p.radix == 8   ? pass<8, T>
                     : p.radix == 4 ? pass<4, T>
                     : p.radix == 2 ? pass<2, T>
                     : p.radix == 3 ? pass<3, T>
                     : p.radix == 5 ? pass<5, T>
                                    : odd_pass<T>;
    run(p, x, y);
    Pair<T>* const swapped = x;
    x = y;
    y = swapped;
  }
  return x;
}

}  // namespace
}  // namespace vivace

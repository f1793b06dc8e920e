// The loops of distance.h for one instruction set. Distances are made for blocks of columns.
#include "runtime/kernels/isa/distance.h"

#include "runtime/kernels/isa/dots.h"

namespace vivace {
namespace {

using dense::Norm;

/// x^p for p of Norm::Halves.
template <class T>
VIVACE_INLINE Vec<T> power_of_halves(Vec<T> x, T p) {
  int n = int(2 * p);
  Vec<T> result = n & 1 ? sqrt(x) : splat(T(1));
  for (n >>= 1; n; n >>= 1, x *= x)
    if (n & 1) result *= x;
  return result;
}

/// What differences of size d add to sums so far.
template <Norm kNorm, class T>
VIVACE_INLINE Vec<T> joined(Vec<T> sum, Vec<T> d, T p) {
  if constexpr (kNorm == Norm::Count)
    return sum + where(d == 0, Vec<T>{}, where(d == d, splat(T(1)), d));
  else if constexpr (kNorm == Norm::Sum)
    return sum + d;
  else if constexpr (kNorm == Norm::Square)
    return fma(d, d, sum);
  else if constexpr (kNorm == Norm::Largest)
    return where(d <= sum, sum, d);
  else if constexpr (kNorm == Norm::Halves)
    return sum + power_of_halves<T>(d, p);
  else
    return sum + each([](T x, T y) { return scalar::pow(x, y); }, d, splat(p));
}

template <Norm kNorm, class T>
VIVACE_INLINE Vec<T> finished(Vec<T> sum, T p) {
  if constexpr (kNorm == Norm::Square)
    return sqrt(sum);
  else if constexpr (kNorm == Norm::Power || kNorm == Norm::Halves)
    return each([](T x, T y) { return scalar::pow(x, y); }, sum, splat(1 / p));
  else
    return sum;
}

/// The norms of kV vectors of columns; of the last, `left` columns exist.
template <Norm kNorm, int kV, class T>
VIVACE_INLINE void row_block(T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t left, T* out) {
  constexpr int kN = lanes<T>;
  Vec<T> sums[kV] = {};
  for (int64_t k = 0; k < m; ++k) {
    const Vec<T> a = splat(x[k]);
    const T* c = columns + k * step;
    VIVACE_UNROLL
    for (int v = 0; v < kV; ++v) {
      const Vec<T> b = v + 1 < kV ? load(c + v * kN) : load(c + v * kN, left);
      sums[v] = joined<kNorm>(sums[v], abs(a - b), p);
    }
  }
  VIVACE_UNROLL
  for (int v = 0; v < kV; ++v) {
    const Vec<T> result = finished<kNorm>(sums[v], p);
    if (v + 1 < kV)
      store(out + v * kN, result);
    else
      store(out + v * kN, result, left);
  }
}

template <Norm kNorm, class T>
void row_of(T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, T* out) {
  constexpr int kV = 4, kN = lanes<T>;
  int64_t j = 0;
  for (; j + kV * kN <= n; j += kV * kN) row_block<kNorm, kV>(p, x, columns + j, step, m, kN, out + j);
  for (; j < n; j += kN) row_block<kNorm, 1>(p, x, columns + j, step, m, n - j, out + j);
}

template <class T>
void row(Norm norm, T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, T* out) {
  const auto run = norm == Norm::Count     ? row_of<Norm::Count, T>
                   : norm == Norm::Sum     ? row_of<Norm::Sum, T>
                   : norm == Norm::Square  ? row_of<Norm::Square, T>
                   : norm == Norm::Largest ? row_of<Norm::Largest, T>
                   : norm == Norm::Halves  ? row_of<Norm::Halves, T>
                                           : row_of<Norm::Power, T>;
  run(p, x, columns, step, m, n, out);
}

/// What differences d of vectors with weight `scale` and norm y add to the gradient.
template <Norm kNorm, class V>
VIVACE_INLINE V slope_term(V d, V scale, V y) {
  if constexpr (kNorm == Norm::Square) return scale * d;
  const V signed_scale = where(d > 0, scale, where(d < 0, -scale, V{}));
  return kNorm == Norm::Largest ? where(abs(d) == y, signed_scale, V{}) : signed_scale;
}

/// Several elements of x at once, so that their sums don't wait for each other.
template <Norm kNorm, class T>
void slope_of(T, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, const T* scale, const T* y,
              T* grad) {
  constexpr int kRows = 4;
  for (int64_t k = 0; k < m; k += kRows) {
    const int64_t rows = m - k < kRows ? m - k : kRows;
    Vec<T> sums[kRows] = {};
    for (int64_t j = 0; j < n; j += lanes<T>) {
      const Vec<T> s = load(scale + j, n - j), norms = kNorm == Norm::Largest ? load(y + j, n - j) : Vec<T>{};
      VIVACE_UNROLL
      for (int r = 0; r < kRows; ++r)
        if (r < rows)
          sums[r] += slope_term<kNorm>(splat(x[k + r]) - load(columns + (k + r) * step + j, n - j), s, norms);
    }
    for (int64_t r = 0; r < rows; ++r) grad[k + r] = total<T>(sums[r]);
  }
}

template <class T>
void slope_of_power(T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, const T* scale, const T*,
                    T* grad) {
  for (int64_t k = 0; k < m; ++k) {
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T d = x[k] - columns[k * step + j];
      if (d != 0 && scale[j] != 0) sum += (d > 0 ? scale[j] : -scale[j]) * scalar::pow(d < 0 ? -d : d, p - 1);
    }
    grad[k] = sum;
  }
}

template <class T>
void slope(Norm norm, T p, const T* x, const T* columns, int64_t step, int64_t m, int64_t n, const T* scale, const T* y,
           T* grad) {
  const auto run = norm == Norm::Sum       ? slope_of<Norm::Sum, T>
                   : norm == Norm::Square  ? slope_of<Norm::Square, T>
                   : norm == Norm::Largest ? slope_of<Norm::Largest, T>
                                           : slope_of_power<T>;
  run(p, x, columns, step, m, n, scale, y, grad);
}

}  // namespace

namespace VIVACE_ISA {
extern const dense::DistanceLoops<float> distance_float;
extern const dense::DistanceLoops<double> distance_double;
const dense::DistanceLoops<float> distance_float = {row<float>, slope<float>};
const dense::DistanceLoops<double> distance_double = {row<double>, slope<double>};
}  // namespace VIVACE_ISA

}  // namespace vivace

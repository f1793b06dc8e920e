// The loops of loss.h for one instruction set.
#include "runtime/kernels/isa/loss.h"

#include "runtime/simd/vec.h"

namespace vivace {
namespace {

// value(x, y): of one pair; slope(x, y): its derivative by x, the negative of that by y.
template <class T>
struct Mse {
  static Vec<T> value(Vec<T> x, Vec<T> y, T) { return (x - y) * (x - y); }
  static Vec<T> slope(Vec<T> x, Vec<T> y, T) { return (x - y) * T(2); }
};
template <class T>
VIVACE_INLINE Vec<T> sign(Vec<T> d) {
  return where(d > T(0), splat(T(1)), where(d < T(0), splat(T(-1)), Vec<T>{}));
}
template <class T>
struct L1 {
  static Vec<T> value(Vec<T> x, Vec<T> y, T) { return abs(x - y); }
  static Vec<T> slope(Vec<T> x, Vec<T> y, T) { return sign<T>(x - y); }
};
template <class T>
struct SmoothL1 {
  static Vec<T> value(Vec<T> x, Vec<T> y, T beta) {
    const Vec<T> d = abs(x - y);
    return where(d < beta, d * d / beta * T(0.5), d - beta * T(0.5));
  }
  static Vec<T> slope(Vec<T> x, Vec<T> y, T beta) {
    const Vec<T> d = x - y;
    return where(abs(d) < beta, d / beta, sign<T>(d));
  }
};
template <class T>
struct Huber {
  static Vec<T> value(Vec<T> x, Vec<T> y, T delta) {
    const Vec<T> d = abs(x - y);
    return where(d <= delta, d * d * T(0.5), (d - delta * T(0.5)) * delta);
  }
  static Vec<T> slope(Vec<T> x, Vec<T> y, T delta) {
    const Vec<T> d = x - y;
    return where(d < -delta, splat(-delta), where(d > delta, splat(delta), d));
  }
};

/// Four vectors of running sums a block, blocks added in double: as accurate as a pairwise sum.
template <template <class> class L, class T>
double sum(const T* x, const T* y, int64_t n, T parameter) {
  constexpr int kN = lanes<T>;
  double total = 0;
  const auto value = [&](int64_t i) { return L<T>::value(load(x + i), load(y + i), parameter); };
  for (int64_t start = 0; start < n; start += 4096) {
    const int64_t end = n - start < 4096 ? n : start + 4096;
    Vec<T> a{}, b{}, c{}, d{};
    int64_t i = start;
    for (; i + 4 * kN <= end; i += 4 * kN) {
      a += value(i);
      b += value(i + kN);
      c += value(i + 2 * kN);
      d += value(i + 3 * kN);
    }
    for (; i + kN <= end; i += kN) a += value(i);
    a = (a + b) + (c + d);
    // The lanes beyond the end hold zeros on both sides, which differ by nothing.
    if (i < end) a += L<T>::value(load_part(x + i, end - i), load_part(y + i, end - i), parameter);
    T block = 0;
    for (int l = 0; l < kN; ++l) block += a[l];
    total += double(block);
  }
  return total;
}

template <template <class> class L, class T>
void values(const T* x, const T* y, T* out, int64_t n, T parameter) {
  for (int64_t i = 0; i < n; i += lanes<T>)
    store(out + i, L<T>::value(load(x + i, n - i), load(y + i, n - i), parameter), n - i);
}

template <template <class> class L, class T>
void slopes(const T* x, const T* y, const T* g, int64_t g_step, T* out, int64_t n, T parameter) {
  const Vec<T> all = splat(g_step == 0 && n > 0 ? *g : T(0));
  for (int64_t i = 0; i < n; i += lanes<T>) {
    const Vec<T> scale = g_step == 0 ? all : load(g + i, n - i);
    store(out + i, Vec<T>(scale * L<T>::slope(load(x + i, n - i), load(y + i, n - i), parameter)), n - i);
  }
}

template <class T>
constexpr dense::LossLoops<T> table() {
  return {{sum<Mse, T>, sum<L1, T>, sum<SmoothL1, T>, sum<Huber, T>},
          {values<Mse, T>, values<L1, T>, values<SmoothL1, T>, values<Huber, T>},
          {slopes<Mse, T>, slopes<L1, T>, slopes<SmoothL1, T>, slopes<Huber, T>}};
}

}  // namespace

namespace VIVACE_ISA {

extern const dense::LossLoops<float> loss_float;
extern const dense::LossLoops<double> loss_double;
constexpr dense::LossLoops<float> loss_float = table<float>();
constexpr dense::LossLoops<double> loss_double = table<double>();

}  // namespace VIVACE_ISA
}  // namespace vivace

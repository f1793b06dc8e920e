// The loops of fft.h for one instruction set.
#include "runtime/kernels/isa/fft.h"

#include "runtime/kernels/isa/exchange.h"
#include "runtime/kernels/isa/fft_passes.h"

namespace vivace {
namespace {

template <class T>
void rows(const dense::FftPasses<T>& passes, const T* from, int64_t from_step, T* to, int64_t to_step, int64_t lines,
          bool is_inverse, T scale, T* scratch) {
  constexpr int kN = lanes<T>;
  const int64_t n = 2 * passes.length;  // parts
  Vec<T>* const x = reinterpret_cast<Vec<T>*>(scratch);
  Vec<T> block[kN];
  for (int64_t k = 0; k < n; k += kN) {
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) block[i] = i < lines ? load(from + i * from_step + k, n - k) : Vec<T>{};
    exchange<T>(block);
    if (n - k >= kN) {
#pragma GCC unroll 16
      for (int i = 0; i < kN; ++i) x[k + (is_inverse ? i ^ 1 : i)] = block[i];
    } else {
      for (int i = 0; i < n - k; ++i) x[(k + i) ^ int64_t(is_inverse)] = block[i];
    }
  }
  Pair<T>* const pairs = reinterpret_cast<Pair<T>*>(scratch);
  const Vec<T>* const y = reinterpret_cast<const Vec<T>*>(transformed(passes, pairs, pairs + passes.length));
  for (int64_t k = 0; k < n; k += kN) {
    if (n - k >= kN) {
#pragma GCC unroll 16
      for (int i = 0; i < kN; ++i) block[i] = scale * y[k + (is_inverse ? i ^ 1 : i)];
    } else {
      for (int i = 0; i < n - k; ++i) block[i] = scale * y[(k + i) ^ int64_t(is_inverse)];
    }
    exchange<T>(block);
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i)
      if (i < lines) store(to + i * to_step + k, block[i], n - k);
  }
}

template <class T>
void columns(const dense::FftPasses<T>& passes, const T* from, T* to, int64_t step, int64_t lines, bool is_inverse,
             T scale, T* scratch) {
  if (lines < 1 || lines > lanes<T>) __builtin_unreachable();  // what the compiler warns of otherwise
  Pair<T>* const x = reinterpret_cast<Pair<T>*>(scratch);
  for (int64_t k = 0; k < passes.length; ++k) {
    Pair<T> z;
    load_pairs(from + 2 * k * step, lines, z.re, z.im);
    x[k] = is_inverse ? Pair<T>{z.im, z.re} : z;
  }
  const Pair<T>* const y = transformed(passes, x, x + passes.length);
  for (int64_t k = 0; k < passes.length; ++k) {
    const Pair<T> z = scaled(scale, y[k]);
    store_pairs(to + 2 * k * step, is_inverse ? z.im : z.re, is_inverse ? z.re : z.im, lines);
  }
}

template <class T>
void line(const dense::FftSplit<T>& split, const T* from, T* to, bool is_inverse, T scale, T* scratch) {
  constexpr int kN = lanes<T>;
  const int64_t length = split.along.length, parts = split.across.length;
  if (parts < 1 || parts > kN) __builtin_unreachable();
  Pair<T>* const x = reinterpret_cast<Pair<T>*>(scratch);
  for (int64_t k = 0; k < length; ++k) {
    Pair<T> z;
    load_pairs(from + 2 * k * parts, parts, z.re, z.im);
    x[k] = is_inverse ? Pair<T>{z.im, z.re} : z;
  }
  const Pair<T>* const y = transformed(split.along, x, x + length + kN);
  for (int64_t k = 0; k < length; k += kN) {
    // Lanes become elements of the part.
    const int64_t left = length - k < kN ? length - k : kN;
    Vec<T> re[kN], im[kN];
    const T* w = split.twiddles + 2 * kN * k;
    for (int64_t i = 0; i < left; ++i, w += 2 * kN) {
      const Pair<T> z = product(y[k + i], load(w), load(w + kN));
      re[i] = z.re;
      im[i] = z.im;
    }
    for (int64_t i = left; i < kN; ++i) re[i] = im[i] = Vec<T>{};
    exchange<T>(re);
    exchange<T>(im);
    Pair<T> a[kN], b[kN];
    for (int64_t i = 0; i < parts; ++i) a[i] = {re[i], im[i]};
    const Pair<T>* const result = transformed(split.across, a, b);
    for (int64_t i = 0; i < parts; ++i) {
      const Pair<T> z = scaled(scale, result[i]);
      store_pairs(to + 2 * (i * length + k), is_inverse ? z.im : z.re, is_inverse ? z.re : z.im, left);
    }
  }
}

template <class T>
void multiply(const T* x, const T* by, T* out, int64_t n, T scale, bool swaps_x, bool swaps_out) {
  for (int64_t k = 0; k < n; k += lanes<T>) {
    Pair<T> a, b;
    load_pairs(x + 2 * k, n - k, a.re, a.im);
    load_pairs(by + 2 * k, n - k, b.re, b.im);
    const Pair<T> z = scaled(scale, product(swaps_x ? Pair<T>{a.im, a.re} : a, b.re, b.im));
    store_pairs(out + 2 * k, swaps_out ? z.im : z.re, swaps_out ? z.re : z.im, n - k);
  }
}

template <class T>
VIVACE_INLINE Vec<T> reversed(Vec<T> x) {
  Index<T> order{};
  for (int l = 0; l < lanes<T>; ++l) order[l] = lanes<T> - 1 - l;
  return __builtin_shuffle(x, order);
}
/// Elements [k, k + n) of x, and what lies opposite in [0, half] to each of them. n <= lanes.
template <class T>
VIVACE_INLINE void load_opposite(const T* x, int64_t k, int64_t half, Pair<T>& near, Pair<T>& far) {
  load_pairs(x + 2 * k, lanes<T>, near.re, near.im);
  load_pairs(x + 2 * (half - k - lanes<T> + 1), lanes<T>, far.re, far.im);
  far = {reversed<T>(far.re), reversed<T>(far.im)};
}

// The transform of the elements at even places is (a + conj b) / 2, that of the odd ones (a - conj b) / 2i, where b
// lies opposite to a. Parts of vectors at the end go one by one.
template <class T>
void untangle(T* x, int64_t half, const T* roots) {
  const auto parts = [](auto a, auto b, auto w, auto& even, auto& odd) __attribute__((always_inline)) {
    even.re = (a.re + b.re) * T(0.5), even.im = (a.im - b.im) * T(0.5);
    const auto re = (a.im + b.im) * T(0.5), im = (b.re - a.re) * T(0.5);
    odd.re = re * w.re - im * w.im, odd.im = re * w.im + im * w.re;
  };
  struct One {
    T re, im;
  };
  const T re = x[0], im = x[1];
  x[0] = re + im, x[1] = 0;
  x[2 * half] = re - im, x[2 * half + 1] = 0;
  int64_t k = 1;
  for (; 2 * k + lanes<T> - 1 <= half; k += lanes<T>) {
    Pair<T> a, b, w, even, odd;
    load_opposite(x, k, half, a, b);
    load_pairs(roots + 2 * k, lanes<T>, w.re, w.im);
    parts(a, b, w, even, odd);
    const Pair<T> near = even + odd, far = even - odd;
    store_pairs(x + 2 * k, near.re, near.im, lanes<T>);
    store_pairs(x + 2 * (half - k - lanes<T> + 1), reversed<T>(far.re), reversed<T>(-far.im), lanes<T>);
  }
  for (; 2 * k <= half; ++k) {
    T *near = x + 2 * k, *far = x + 2 * (half - k);
    One even, odd;
    parts(One{near[0], near[1]}, One{far[0], far[1]}, One{roots[2 * k], roots[2 * k + 1]}, even, odd);
    far[0] = even.re - odd.re, far[1] = odd.im - even.im;
    near[0] = even.re + odd.re, near[1] = even.im + odd.im;
  }
}

template <class T>
void tangle(const T* x, T* out, int64_t half, const T* roots) {
  const auto joined = [](auto a, auto b, auto w, auto& z) __attribute__((always_inline)) {
    const auto re = a.re - b.re, im = a.im + b.im;
    z.re = (a.re + b.re) - (im * w.re - re * w.im);
    z.im = (a.im - b.im) + (re * w.re + im * w.im);
  };
  struct One {
    T re, im;
  };
  // What symmetry says of the imaginary parts at both ends is taken as given.
  out[0] = x[0] + x[2 * half], out[1] = x[0] - x[2 * half];
  int64_t k = 1;
  for (; k + lanes<T> <= half; k += lanes<T>) {
    Pair<T> a, b, w, z;
    load_opposite(x, k, half, a, b);
    load_pairs(roots + 2 * k, lanes<T>, w.re, w.im);
    joined(a, b, w, z);
    store_pairs(out + 2 * k, z.re, z.im, lanes<T>);
  }
  for (; k < half; ++k) {
    const T *a = x + 2 * k, *b = x + 2 * (half - k);
    One z;
    joined(One{a[0], a[1]}, One{b[0], b[1]}, One{roots[2 * k], roots[2 * k + 1]}, z);
    out[2 * k] = z.re, out[2 * k + 1] = z.im;
  }
}

template <class T>
constexpr dense::FftLoops<T> kLoops = {lanes<T>, rows<T>, columns<T>, line<T>, multiply<T>, untangle<T>, tangle<T>};

}  // namespace

namespace VIVACE_ISA {
extern const dense::FftLoops<float> fft_float;
extern const dense::FftLoops<double> fft_double;
constexpr dense::FftLoops<float> fft_float = kLoops<float>;
constexpr dense::FftLoops<double> fft_double = kLoops<double>;
}  // namespace VIVACE_ISA

}  // namespace vivace

// Running sums, products and extremes along one dim. Floating totals are kept in double. Lines that lie along memory
// are walked several at a time, since each is one chain of additions; other dims are walked row by row, a line a
// column.
#include <cmath>
#include <limits>

#include "generated/kernels/scan/cumulative.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

DType scan_dtype(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_differentiable(self.dtype()) ? self.dtype() : DType::Int64);
}
TensorRef scanned(Tensor& self, int64_t dim, DType dtype) {
  wrap_dim(dim, self.dim());
  return empty(self.sizes(), dtype, self.device());
}
std::tuple<TensorRef, TensorRef> scanned_with_index(Tensor& self, int64_t dim) {
  if (is_complex(self.dtype())) fail_not_implemented("\"cummax_cummin\" not implemented for '", self.dtype(), "'");
  return {scanned(self, dim, self.dtype()), scanned(self, dim, DType::Int64)};
}

}  // namespace

namespace meta {

TensorRef cumsum(Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return scanned(self, dim, scan_dtype(self, dtype));
}
TensorRef cumprod(Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return scanned(self, dim, scan_dtype(self, dtype));
}
TensorRef logcumsumexp(Tensor& self, int64_t dim) {
  if (!is_differentiable(self.dtype()))
    fail_not_implemented("\"logcumsumexp_out_cpu\" not implemented for '", self.dtype(), "'");
  return scanned(self, dim, self.dtype());
}
std::tuple<TensorRef, TensorRef> cummax(Tensor& self, int64_t dim) { return scanned_with_index(self, dim); }
std::tuple<TensorRef, TensorRef> cummin(Tensor& self, int64_t dim) { return scanned_with_index(self, dim); }

}  // namespace meta

namespace kernels {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int kTogether = 8;  // lines whose chains run side by side

template <class T>
using Total =
    std::conditional_t<kIsComplex<T>, Complex<double>, std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;

struct Sum {
  template <class A>
  static A start() {
    return A{};
  }
  template <class A>
  static A join(A a, A b) {
    if constexpr (kIsComplex<A>)
      return {a.re + b.re, a.im + b.im};
    else
      return a + b;
  }
};
struct Product {
  template <class A>
  static A start() {
    if constexpr (kIsComplex<A>)
      return {1, 0};
    else
      return A(1);
  }
  template <class A>
  static A join(A a, A b) {
    if constexpr (kIsComplex<A>)
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else
      return a * b;
  }
};
struct LogSumExp {
  template <class A>
  static A start() {
    if constexpr (kIsComplex<A>)
      return {-std::numeric_limits<double>::infinity(), 0};
    else
      return -std::numeric_limits<double>::infinity();
  }
  static double join(double a, double b) {
    const double top = std::max(a, b), low = std::min(a, b);
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    return std::isinf(top) ? top : top + std::log1p(std::exp(low - top));
  }
  /// exp is a sum of directions here: scale by the larger real part.
  static Complex<double> join(Complex<double> a, Complex<double> b) {
    if (b.re > a.re) std::swap(a, b);
    if (std::isinf(a.re) || std::isnan(a.re)) return a;
    const double size = std::exp(b.re - a.re), re = std::cos(a.im) + size * std::cos(b.im),
                 im = std::sin(a.im) + size * std::sin(b.im);
    return {a.re + std::log(std::hypot(re, im)), std::atan2(im, re)};
  }
};

template <class Op, class T, int kLines>
void along_memory(const T* from, T* to, int64_t n) {
  using A = Total<T>;
  A totals[kLines];  // in registers only if every loop over them is unrolled
#pragma GCC unroll 8
  for (int l = 0; l < kLines; ++l) totals[l] = Op::template start<A>();
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 8
    for (int l = 0; l < kLines; ++l) {
      totals[l] = Op::join(totals[l], convert<A>(from[l * n + i]));
      to[l * n + i] = convert<T>(totals[l]);
    }
  }
}

template <class Op, class T>
void across_memory(const T* from, T* to, int64_t n, int64_t inner, int64_t first, int64_t width) {
  using A = Total<T>;
  A totals[64];
  for (int64_t c = 0; c < width; ++c) totals[c] = Op::template start<A>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < width; ++c) {
      totals[c] = Op::join(totals[c], convert<A>(from[i * inner + first + c]));
      to[i * inner + first + c] = convert<T>(totals[c]);
    }
  }
}

template <class Op, class T>
void scan_lines(const T* from, T* to, const Slabs& lines) {
  const int64_t n = lines.n, inner = lines.inner;
  if (inner == 1) {
    parallel_for(0, lines.outer, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      int64_t o = begin;
      for (; o + kTogether <= end; o += kTogether) along_memory<Op, T, kTogether>(from + o * n, to + o * n, n);
      for (; o < end; ++o) along_memory<Op, T, 1>(from + o * n, to + o * n, n);
    });
    return;
  }
  const int64_t pieces = (inner + 63) / 64;
  parallel_for(0, lines.outer * pieces, std::max<int64_t>(1, kGrain / (n * 64)), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t start = task / pieces * n * inner, first = task % pieces * 64;
      across_memory<Op>(from + start, to + start, n, inner, first, std::min<int64_t>(64, inner - first));
    }
  });
}

template <class Op>
void scan(const Tensor& self, int64_t dim, Tensor& out) {
  if (out.numel() == 0) return;
  const TensorRef from = contiguous(*vivace::to_dtype(self, out.dtype()));
  const Slabs lines(from->sizes(), wrap_dim(dim, from->dim()));
  visit(out.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      if constexpr (std::is_same_v<Op, LogSumExp> && std::is_integral_v<T>)
        return;
      else
        scan_lines<Op>(from->data<T>(), out.data<T>(), lines);
    } else if constexpr (!std::is_same_v<Op, LogSumExp>) {
      scan_lines<Op>(from->data<uint8_t>(), out.data<uint8_t>(), lines);
      for (int64_t i = 0; i < out.numel(); ++i) out.data<uint8_t>()[i] = out.data<uint8_t>()[i] != 0;
    }
  });
}

template <bool kLargest>
void scan_extremes(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  if (values.numel() == 0) return;
  const TensorRef from = contiguous(self);
  const Slabs lines(from->sizes(), wrap_dim(dim, from->dim()));
  visit(self.dtype(), [&]<class T>() {
    if constexpr (!kIsComplex<T>) {
      for (int64_t o = 0; o < lines.outer; ++o) {
        for (int64_t c = 0; c < lines.inner; ++c) {
          const int64_t start = o * lines.n * lines.inner + c;
          const T* x = from->data<T>() + start;
          T* value = values.data<T>() + start;
          int64_t *index = indices.data<int64_t>() + start, at = 0;
          auto best = load(x[0]);
          for (int64_t i = 0; i < lines.n; ++i) {
            const auto y = load(x[i * lines.inner]);
            if (y != y || (best == best && (kLargest ? y >= best : y <= best))) {
              best = y;
              at = i;
            }
            value[i * lines.inner] = x[at * lines.inner];
            index[i * lines.inner] = at;
          }
        }
      }
    }
  });
}

}  // namespace

void cumsum(Tensor& self, int64_t dim, std::optional<DType>, Tensor& out) { scan<Sum>(self, dim, out); }
void cumprod(Tensor& self, int64_t dim, std::optional<DType>, Tensor& out) { scan<Product>(self, dim, out); }
void logcumsumexp(Tensor& self, int64_t dim, Tensor& out) { scan<LogSumExp>(self, dim, out); }
void cummax(Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  scan_extremes<true>(self, dim, values, indices);
}
void cummin(Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  scan_extremes<false>(self, dim, values, indices);
}

}  // namespace kernels
}  // namespace vivace

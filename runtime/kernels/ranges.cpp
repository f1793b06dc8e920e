// Sequences and index patterns: arange, linspace, logspace, eye, the indices of triangles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "generated/kernels/factory/ranges.h"
#include "generated/kernels/linalg/products.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/copy.h"

namespace vivace::kernels {
namespace {

using Dtype = std::optional<DType>;
using Place = std::optional<Device>;

double number(const Scalar& s) { return s.to_double(); }

int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  const double from = number(start), to = number(end), by = number(step);
  if (by == 0 || std::isnan(by)) fail("step must be nonzero");
  if (is_integral(dtype) && step.to_int() == 0) fail_value("step must be nonzero");
  if (is_integral(dtype))
    for (const Scalar& s : {start, end, step}) kernels::check_fits(s, DType::Int64);
  if (!std::isfinite(from) || !std::isfinite(to)) fail("unsupported range: ", from, " -> ", to);
  if (by > 0 ? to < from : to > from) fail("upper bound and lower bound inconsistent with step sign");
  // In int64 where all is whole, since doubles round there; as in NumPy the dtype of the result never cuts an end off
  // (PyTorch's int64 does, its int32 does not).
  const bool whole = start.is_integral() && end.is_integral() && step.is_integral();
  int64_t span = 0;
  if (whole && __builtin_sub_overflow(end.to_int(), start.to_int(), &span)) fail("invalid size, possible overflow?");
  const double length = std::ceil(whole ? double(span) / double(step.to_int()) : (to - from) / by);
  if (!(length >= 0 && length <= 9.0e18)) fail("invalid size, possible overflow?");
  return int64_t(length);
}

/// out[i] = f(i), computed in double, in int64 where both ends are integers, or as complex.
template <class F>
void generate(Tensor& out, F&& f) {
  if (out.is_meta()) return;
  const int64_t n = out.numel();
  visit(out.dtype(), [&]<class T>() {
    T* to = out.data<T>();
    for (int64_t i = 0; i < n; ++i) to[i] = convert<T>(f(i));
  });
}

Complex<double> complex_of_scalar(const Scalar& s) { return {s.to_double(), s.imag_part()}; }

void fill_linear(Tensor& out, const Scalar& start, const Scalar& end) {
  const int64_t n = out.numel(), last = n - 1;
  if (n == 1) return fill_into(out, start);
  if (is_complex(out.dtype())) {
    const Complex<double> a = complex_of_scalar(start), b = complex_of_scalar(end);
    const Complex<double> step{(b.re - a.re) / double(last), (b.im - a.im) / double(last)};
    return generate(out, [=](int64_t i) {
      return i < n / 2 ? Complex<double>{a.re + step.re * double(i), a.im + step.im * double(i)}
                       : Complex<double>{b.re - step.re * double(last - i), b.im - step.im * double(last - i)};
    });
  }
  const bool whole = is_integral(out.dtype());
  const double a = whole ? double(start.to_int()) : number(start), b = whole ? double(end.to_int()) : number(end);
  const double step = (b - a) / double(last);
  // From both ends towards the middle, so that the last element is exactly `end`.
  generate(out, [=](int64_t i) { return i < n / 2 ? a + step * double(i) : b - step * double(last - i); });
}

DType linear_dtype(Dtype dtype, const Scalar& start, const Scalar& end, const char* op) {
  if (!start.is_complex() && !end.is_complex()) return dtype.value_or(default_dtype);
  if (dtype && !is_complex(*dtype))
    fail("torch.", op, "(): inferred dtype complex can't be safely cast to passed dtype ", *dtype);
  return dtype.value_or(complex_of(default_dtype));
}

TensorRef linear(const Scalar& start, const Scalar& end, int64_t steps, Dtype dtype, Place device, const char* op) {
  if (steps < 0) fail("number of steps must be non-negative");
  return vivace::empty({steps}, linear_dtype(dtype, start, end, op), device.value_or(Device{}));
}

}  // namespace

TensorRef arange_start_step(const Scalar& start, const Scalar& end, const Scalar& step, Dtype dtype, Place device) {
  const bool whole = start.is_integral() && end.is_integral() && step.is_integral();
  const DType type = dtype.value_or(whole ? DType::Int64 : default_dtype);
  const int64_t n = range_length(start, end, step, type);
  TensorRef out = vivace::empty({n}, type, device.value_or(Device{}));
  if (type == DType::Int64 && !out->is_meta()) {
    const int64_t from = start.to_int(), by = step.to_int();
    int64_t* to = out->data<int64_t>();
    for (int64_t i = 0; i < n; ++i) to[i] = from + by * i;
  } else if (is_integral(type)) {
    generate(*out, [from = start.to_int(), by = step.to_int()](int64_t i) { return from + by * i; });
  } else {
    generate(*out, [from = number(start), by = number(step)](int64_t i) { return from + by * double(i); });
  }
  return out;
}
TensorRef arange_start(const Scalar& start, const Scalar& end, Dtype dtype, Place device) {
  return arange_start_step(start, end, 1, dtype, device);
}
TensorRef arange(const Scalar& end, Dtype dtype, Place device) { return arange_start_step(0, end, 1, dtype, device); }

TensorRef range(const Scalar& start, const Scalar& end, const Scalar& step, Dtype dtype, Place device) {
  const double from = number(start), to = number(end), by = number(step);
  if (by == 0) fail("step must be nonzero");
  if (!std::isfinite(from) || !std::isfinite(to)) fail("unsupported range: ", from, " -> ", to);
  if (by > 0 ? to < from : to > from) fail("upper bound and lower bound inconsistent with step sign");
  TensorRef out =
      vivace::empty({int64_t((to - from) / by + 1)}, dtype.value_or(default_dtype), device.value_or(Device{}));
  generate(*out, [=](int64_t i) { return from + by * double(i); });
  return out;
}

TensorRef linspace(const Scalar& start, const Scalar& end, int64_t steps, Dtype dtype, Place device) {
  TensorRef out = linear(start, end, steps, dtype, device, "linspace");
  fill_linear(*out, start, end);
  return out;
}

TensorRef logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, Dtype dtype, Place device) {
  TensorRef out = linear(start, end, steps, dtype, device, "logspace");
  if (out->is_meta()) return out;
  if (is_complex(out->dtype())) {
    const TensorRef exponents = vivace::empty({steps}, DType::Complex128);
    fill_linear(*exponents, start, end);
    const Complex<double>* x = exponents->data<Complex<double>>();
    const double log_base = std::log(base);
    generate(*out, [=](int64_t i) {
      const double size = std::pow(base, x[i].re), angle = x[i].im * log_base;
      return Complex<double>{size * std::cos(angle), size * std::sin(angle)};
    });
    return out;
  }
  const TensorRef exponents = vivace::empty({steps}, DType::Float64);
  const bool whole = is_integral(out->dtype());
  fill_linear(*exponents, whole ? Scalar(double(start.to_int())) : start, whole ? Scalar(double(end.to_int())) : end);
  generate(*out, [=, x = exponents->data<double>()](int64_t i) { return std::pow(base, x[i]); });
  return out;
}

TensorRef eye_m(int64_t n, int64_t m, Dtype dtype, Place device) {
  if (n < 0) fail("n must be greater or equal to 0, got ", n);
  if (m < 0) fail("m must be greater or equal to 0, got ", m);
  TensorRef out = vivace::empty({n, m}, dtype.value_or(default_dtype), device.value_or(Device{}));
  fill_into(*out, 0);
  if (out->is_meta()) return out;
  for (int64_t i = 0; i < std::min(n, m); ++i)
    store_scalar(out->dtype(), out->raw() + i * (m + 1) * int64_t(out->item_size()), 1);
  return out;
}
TensorRef eye(int64_t n, Dtype dtype, Place device) { return eye_m(n, n, dtype, device); }

namespace {

/// Row and column numbers of one side of a diagonal, row by row, as a 2 x count tensor.
TensorRef triangle(int64_t rows, int64_t columns, int64_t offset, bool lower, Dtype dtype, Place device) {
  if (rows < 0 || columns < 0) fail("row and col must be non-negative, got ", rows, " and ", columns);
  const DType type = dtype.value_or(DType::Int64);
  if (type != DType::Int64 && type != DType::Int32)
    fail_not_implemented("\"tri_indices\" not implemented for '", type, "'");
  offset = std::clamp(offset, -rows, columns);  // beyond these nothing changes
  // Rows before `none` are empty below the diagonal, those from `full` on are whole there.
  const __int128 k = __int128(offset) + lower;
  const auto none = int64_t(std::clamp<__int128>(1 - k, 0, rows));
  const auto full = std::max(none, int64_t(std::clamp<__int128>(columns - k, 0, rows)));
  const __int128 below = (full - none) * (__int128(none) + full - 1 + 2 * k) / 2 + (__int128(rows) - full) * columns;
  const __int128 wanted = lower ? below : __int128(rows) * columns - below;
  if (wanted > std::numeric_limits<int64_t>::max() / 2)
    fail("a triangle of ", rows, " rows and ", columns, " columns has too many elements");
  const auto n = int64_t(wanted);
  const auto first = [&](int64_t r) { return lower ? 0 : std::clamp<int64_t>(r + offset, 0, columns); };
  const auto last = [&](int64_t r) { return lower ? std::clamp<int64_t>(r + offset + 1, 0, columns) : columns; };
  TensorRef wide = vivace::empty({2, n}, DType::Int64, device.value_or(Device{}));
  if (!wide->is_meta()) {
    int64_t *row = wide->data<int64_t>(), *column = row + n;
    const int64_t begin = lower ? none : 0, end = n == 0 ? begin : lower ? rows : full;
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = first(r); c < last(r); ++c) {
        *row++ = r;
        *column++ = c;
      }
    }
  }
  return to_dtype(*wide, type);
}

}  // namespace

TensorRef tril_indices(int64_t row, int64_t col, int64_t offset, Dtype dtype, Place device) {
  return triangle(row, col, offset, true, dtype, device);
}
TensorRef triu_indices(int64_t row, int64_t col, int64_t offset, Dtype dtype, Place device) {
  return triangle(row, col, offset, false, dtype, device);
}

}  // namespace vivace::kernels

// Transforms of complex and real tensors along several dims, one dim after the other. Real lines of even length go
// through a complex transform of half the length.
#include <algorithm>
#include <vector>

#include "generated/kernels/fft.h"
#include "runtime/kernels/fft_plan.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

using kernels::FftPlan;
using kernels::root_of_unity;

constexpr int64_t kGrain = 16 * 1024;  // elements

template <class F>
void visit_precision(DType t, F&& f) {
  real_of(t) == DType::Float64 ? f.template operator()<double>() : f.template operator()<float>();
}

/// The lines of `t` along dim d: f(index, offset of its first element in elements).
struct Lines {
  Lines(const Tensor& t, int64_t d) : t(t), dim(d), length(t.dims_[d]), stride(t.dims_[t.ndim_ + d]) {
    count = length ? t.numel() / length : 0;
  }
  int64_t offset(int64_t line) const {
    int64_t at = 0;
    for (int64_t d = t.dim(); d-- > 0;) {
      if (d == dim) continue;
      at += line % t.dims_[d] * t.dims_[t.ndim_ + d];
      line /= t.dims_[d];
    }
    return at;
  }
  const Tensor& t;
  int64_t dim, length, stride, count;
};

/// Calls work(line, buffer, scratch) for all lines over threads; the buffer holds `room` elements.
template <class T, class F>
void over_lines(int64_t lines, const FftPlan<T>& plan, int64_t room, F&& work) {
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / room), [&](int64_t begin, int64_t end) {
    std::vector<Complex<T>> memory(size_t(room + plan.scratch()));
    for (int64_t line = begin; line < end; ++line) work(line, memory.data(), memory.data() + room);
  });
}

/// to = scale * transform of from, of complex tensors of the same sizes; they may be the same.
template <class T>
void transform(const Tensor& from, Tensor& to, int64_t dim, T scale, bool forward) {
  const Lines in(from, dim), out(to, dim);
  const auto plan = kernels::fft_plan<T>(in.length);
  const T sign = forward ? 1 : -1;  // the inverse is the conjugate of the conjugate's transform
  over_lines<T>(in.count, *plan, in.length, [&](int64_t line, Complex<T>* x, Complex<T>* scratch) {
    const Complex<T>* source = from.data<Complex<T>>() + in.offset(line);
    for (int64_t k = 0; k < in.length; ++k) x[k] = {source[k * in.stride].re, sign * source[k * in.stride].im};
    plan->run(x, scratch);
    Complex<T>* target = to.data<Complex<T>>() + out.offset(line);
    for (int64_t k = 0; k < in.length; ++k) target[k * out.stride] = {scale * x[k].re, sign * scale * x[k].im};
  });
}

/// exp(-2 pi i k / n) for k up to n / 2.
template <class T>
std::vector<Complex<T>> half_roots(int64_t n) {
  std::vector<Complex<T>> roots(size_t(n / 2 + 1));
  for (int64_t k = 0; k <= n / 2; ++k) {
    const Complex<double> z = root_of_unity(k, n);
    roots[size_t(k)] = {T(z.re), T(z.im)};
  }
  return roots;
}

/// The first n / 2 + 1 elements of the transform of real lines.
template <class T>
void transform_real(const Tensor& from, Tensor& to, int64_t dim, T scale) {
  const Lines in(from, dim), out(to, dim);
  const int64_t n = in.length, h = n / 2;
  const bool is_even = n % 2 == 0;
  const auto plan = kernels::fft_plan<T>(is_even ? h : n);
  const std::vector<Complex<T>> roots = is_even ? half_roots<T>(n) : std::vector<Complex<T>>();
  over_lines<T>(in.count, *plan, n, [&](int64_t line, Complex<T>* x, Complex<T>* scratch) {
    const T* source = from.data<T>() + in.offset(line);
    Complex<T>* target = to.data<Complex<T>>() + out.offset(line);
    if (!is_even) {
      for (int64_t k = 0; k < n; ++k) x[k] = {source[k * in.stride], 0};
      plan->run(x, scratch);
      for (int64_t k = 0; k <= h; ++k) target[k * out.stride] = {scale * x[k].re, scale * x[k].im};
      return;
    }
    // Even elements are the real parts, odd ones the imaginary parts; their transforms come apart by symmetry.
    for (int64_t k = 0; k < h; ++k) x[k] = {source[2 * k * in.stride], source[(2 * k + 1) * in.stride]};
    plan->run(x, scratch);
    for (int64_t k = 0; k <= h; ++k) {
      const Complex<T> a = x[k == h ? 0 : k], b = x[k == 0 ? 0 : h - k], w = roots[size_t(k)];
      const Complex<T> even{(a.re + b.re) / 2, (a.im - b.im) / 2}, odd{(a.im + b.im) / 2, (b.re - a.re) / 2};
      target[k * out.stride] = {scale * (even.re + odd.re * w.re - odd.im * w.im),
                                scale * (even.im + odd.re * w.im + odd.im * w.re)};
    }
  });
}

/// Real lines from the first half of their transform; what symmetry says of the imaginary parts at its ends is taken as
/// given.
template <class T>
void transform_to_real(const Tensor& from, Tensor& to, int64_t dim, T scale) {
  const Lines in(from, dim), out(to, dim);
  const int64_t n = out.length, h = n / 2;
  const bool is_even = n % 2 == 0;
  const auto plan = kernels::fft_plan<T>(is_even ? h : n);
  const std::vector<Complex<T>> roots = is_even ? half_roots<T>(n) : std::vector<Complex<T>>();
  over_lines<T>(out.count, *plan, n, [&](int64_t line, Complex<T>* x, Complex<T>* scratch) {
    const Complex<T>* source = from.data<Complex<T>>() + in.offset(line);
    T* target = to.data<T>() + out.offset(line);
    // Conjugates go in, so that the forward transform makes the inverse's conjugate.
    if (!is_even) {
      x[0] = {source[0].re, 0};
      for (int64_t k = 1; k <= h; ++k) {
        const Complex<T> z = source[k * in.stride];
        x[k] = {z.re, -z.im};
        x[n - k] = z;
      }
      plan->run(x, scratch);
      for (int64_t k = 0; k < n; ++k) target[k * out.stride] = scale * x[k].re;
      return;
    }
    const auto element = [&](int64_t k) {
      const Complex<T> z = source[k * in.stride];
      return k == 0 || k == h ? Complex<T>{z.re, 0} : z;
    };
    for (int64_t k = 0; k < h; ++k) {
      const Complex<T> a = element(k), b = element(h - k), w = roots[size_t(k)];
      const Complex<T> even{a.re + b.re, a.im - b.im}, difference{a.re - b.re, a.im + b.im};
      const Complex<T> odd{difference.re * w.re + difference.im * w.im, difference.im * w.re - difference.re * w.im};
      x[k] = {even.re - odd.im, -(even.im + odd.re)};
    }
    plan->run(x, scratch);
    for (int64_t k = 0; k < h; ++k) {
      target[2 * k * out.stride] = scale * x[k].re;
      target[(2 * k + 1) * out.stride] = -scale * x[k].im;
    }
  });
}

}  // namespace

namespace meta {

TensorRef _fft_c2c(Tensor& self, IntList, double, bool) { return empty(self.sizes(), self.dtype(), self.device()); }
TensorRef _fft_r2c(Tensor& self, IntList dim, double) {
  Dims sizes(self.sizes());
  sizes[int(dim.back())] = sizes[int(dim.back())] / 2 + 1;
  return empty(sizes, complex_of(self.dtype()), self.device());
}
TensorRef _fft_c2r(Tensor& self, IntList dim, double, int64_t last_size) {
  Dims sizes(self.sizes());
  sizes[int(dim.back())] = last_size;
  return empty(sizes, real_of(self.dtype()), self.device());
}

}  // namespace meta

namespace kernels {

void _fft_c2c(Tensor& self, IntList dim, double scale, bool forward, Tensor& out) {
  if (dim.empty()) return copy_into(out, self);
  visit_precision(self.dtype(), [&]<class T>() {
    const Tensor* from = &self;
    for (size_t i = dim.size(); i-- > 0; from = &out) transform<T>(*from, out, dim[i], i ? T(1) : T(scale), forward);
  });
}

void _fft_r2c(Tensor& self, IntList dim, double scale, Tensor& out) {
  visit_precision(self.dtype(), [&]<class T>() {
    transform_real<T>(self, out, dim.back(), T(scale));
    for (size_t i = dim.size() - 1; i-- > 0;) transform<T>(out, out, dim[i], T(1), true);
  });
}

void _fft_c2r(Tensor& self, IntList dim, double scale, int64_t, Tensor& out) {
  visit_precision(self.dtype(), [&]<class T>() {
    TensorRef from = TensorRef::share(&self);
    if (dim.size() > 1) {
      from = vivace::empty(self.sizes(), self.dtype());
      for (size_t i = 0; i + 1 < dim.size(); ++i) transform<T>(i ? *from : self, *from, dim[i], T(1), false);
    }
    transform_to_real<T>(*from, out, dim.back(), T(scale));
  });
}

}  // namespace kernels
}  // namespace vivace

// log(sum(exp(x))) as m + log(sum(exp(x - m))) with m the largest element, or real part of one.
#include <cmath>
#include <limits>

#include "generated/kernels/reduce/sums.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/rows.h"

namespace vivace {
namespace {

template <class T>
Complex<T> complex_row(const Complex<T>* x, int64_t n) {
  T top = x[0].re;
  for (int64_t i = 1; i < n; ++i)
    if (x[i].re > top || x[i].re != x[i].re) top = x[i].re;
  if (std::isinf(top)) top = 0;
  Complex<double> sum{0, 0};
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::exp(double(x[i].re) - double(top)), angle = double(x[i].im);
    sum.re += size * std::cos(angle);
    sum.im += angle == 0 ? 0 : size * std::sin(angle);  // not inf * 0
  }
  return {T(std::log(std::hypot(sum.re, sum.im)) + double(top)), T(std::atan2(sum.im, sum.re))};
}

template <class T>
void logsumexp_rows(const T* x, T* out, int64_t rows, int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    dense::loops<T>().logsumexp(x, out, rows, n);
  else
    for (int64_t r = 0; r < rows; ++r) out[r] = complex_row(x + r * n, n);
}

}  // namespace

TensorRef meta::logsumexp(Tensor& self, IntList dim, bool keepdim) {
  const DType dtype = is_differentiable(self.dtype()) ? self.dtype() : default_dtype;
  return empty(kernels::reduced_sizes(self, dim_mask(dim, self.dim()), keepdim), dtype, self.device());
}

void kernels::logsumexp(Tensor& self, IntList dim, bool, Tensor& out) {
  if (out.numel() == 0) return;
  if (self.numel() == 0) return fill_into(out, -std::numeric_limits<double>::infinity());
  const DType compute = compute_of(out.dtype());
  // The reduced dims become rows.
  const uint64_t mask = dim_mask(dim, self.dim());
  Dims sizes, strides;
  for (const bool is_reduced : {false, true})
    for (int d = 0; d < self.ndim_; ++d)
      if (bool(mask >> d & 1) == is_reduced) {
        sizes.push(self.sizes()[size_t(d)]);
        strides.push(self.strides()[size_t(d)]);
      }
  const TensorRef moved = make_view(self, sizes, strides, self.storage_offset()), x = dense_in(moved.get(), compute);
  RowBuffer buffer(out, out.dim(), compute);
  const int64_t rows = out.numel(), n = self.numel() / rows;
  visit(compute, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_type<T>) {
      const T* in = x->data<T>();
      T* result = buffer.rows().data<T>();
      parallel_for(0, rows, kReduceGrain / n + 1,
                   [=](int64_t begin, int64_t end) { logsumexp_rows(in + begin * n, result + begin, end - begin, n); });
    }
  });
  buffer.finish();
}

}  // namespace vivace

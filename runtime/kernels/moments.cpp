// Variance and standard deviation. Blocks are centred on their own mean and merged, which is as accurate as two passes
// and reads memory once. Complex variance is that of the real plus that of the imaginary part.
#include <cmath>
#include <limits>

#include "generated/kernels/reduce/moments.h"
#include "generated/kernels/view/parts.h"
#include "generated/kernels/view/regroup.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/reduce_loops.h"

namespace vivace {
namespace {

using DimList = std::optional<IntList>;

DType moment_dtype(const Tensor& self, const char* op) {
  if (!is_differentiable(self.dtype()))
    fail(op, ": only support floating point and complex dtypes, but got ", self.dtype());
  return self.dtype();
}

TensorRef spread(Tensor& self, DimList dim, bool keepdim, const char* op) {
  return empty(kernels::reduced_sizes(self, dim_mask(dim, self.dim()), keepdim), real_of(moment_dtype(self, op)),
               self.device());
}
std::tuple<TensorRef, TensorRef> spread_and_mean(Tensor& self, DimList dim, bool keepdim, const char* op) {
  TensorRef spread_out = spread(self, dim, keepdim, op);
  TensorRef mean = empty(spread_out->sizes(), self.dtype(), self.device());
  return {std::move(spread_out), std::move(mean)};
}

}  // namespace

namespace meta {

TensorRef var_correction(Tensor& self, DimList dim, const Scalar*, bool keepdim) {
  return spread(self, dim, keepdim, "var");
}
TensorRef std_correction(Tensor& self, DimList dim, const Scalar*, bool keepdim) {
  return spread(self, dim, keepdim, "std");
}
std::tuple<TensorRef, TensorRef> var_mean_correction(Tensor& self, DimList dim, const Scalar*, bool keepdim) {
  return spread_and_mean(self, dim, keepdim, "var_mean");
}
std::tuple<TensorRef, TensorRef> std_mean_correction(Tensor& self, DimList dim, const Scalar*, bool keepdim) {
  return spread_and_mean(self, dim, keepdim, "std_mean");
}

}  // namespace meta

namespace kernels {
namespace {

template <class T>
struct MomentsPolicy {
  using In = T;
  using Acc = Moments;
  DType in_type, out_type;
  double correction;
  bool root;
  char *out, *mean;  // mean: where the means go, or null
  const ReduceLoopsOf<T>& loops;
  Moments init{};

  void inner(const T* p, int64_t n, Moments& acc) const { acc.merge(loops.inner_moments(p, n)); }
  void outer(const T* p, int64_t rows, int64_t step, int64_t columns, Moments* accs) const {
    loops.outer_moments(p, rows, step, columns, accs);
  }
  void merge(Moments& acc, const Moments& other) const { acc.merge(other); }
  void store(const Moments& m, char* to) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const double x = m.count == 0 ? kNan : m.m2 / std::max(m.count - correction, 0.0);
    visit(out_type, [&]<class Out>() {
      *reinterpret_cast<Out*>(to) = convert<Out>(root ? std::sqrt(x) : x);
      if (mean) *reinterpret_cast<Out*>(mean + (to - out)) = convert<Out>(m.count == 0 ? kNan : m.mean);
    });
  }
};

const ReduceLoops& loops() {
  static const ReduceLoops& chosen = VIVACE_PICK(reduce_loops);
  return chosen;
}

/// Of a real tensor; `mean` has out's sizes and dtype, or is null.
void moments_into(const Tensor& in, uint64_t mask, double correction, bool root, Tensor& out, Tensor* mean) {
  char* means = mean ? mean->raw() : nullptr;
  if (in.dtype() == DType::Float64)
    return reduce(MomentsPolicy<double>{DType::Float64, out.dtype(), correction, root, out.raw(), means, loops().f64},
                  in, out, mask);
  reduce(MomentsPolicy<float>{DType::Float32, out.dtype(), correction, root, out.raw(), means, loops().f32}, in, out,
         mask);
}

/// The real (0) or imaginary (1) parts of a complex tensor, seen in place.
TensorRef part(const Tensor& t, int which) {
  return select_int(*view_as_real(*vivace::alias(const_cast<Tensor&>(t))), -1, which);
}

void spread_into(const Tensor& self, DimList dim, const Scalar* correction, bool root, Tensor& out, Tensor* mean) {
  const uint64_t mask = dim_mask(dim, self.dim());
  const double less = correction ? correction->to_double() : 1;
  if (!is_complex(self.dtype())) return moments_into(self, mask, less, root, out, mean);
  const TensorRef re = empty(out.sizes(), DType::Float64), im = empty(out.sizes(), DType::Float64);
  const TensorRef re_mean = empty(out.sizes(), DType::Float64), im_mean = empty(out.sizes(), DType::Float64);
  moments_into(*part(self, 0), mask, less, false, *re, re_mean.get());
  moments_into(*part(self, 1), mask, less, false, *im, im_mean.get());
  double *x = re->data<double>(), *y = im->data<double>();
  for (int64_t i = 0; i < out.numel(); ++i) x[i] = root ? std::sqrt(x[i] + y[i]) : x[i] + y[i];
  copy_into(out, *re);
  if (mean) {
    copy_into(*part(*mean, 0), *re_mean);
    copy_into(*part(*mean, 1), *im_mean);
  }
}

}  // namespace

void var_correction(Tensor& self, DimList dim, const Scalar* correction, bool, Tensor& out) {
  spread_into(self, dim, correction, false, out, nullptr);
}
void std_correction(Tensor& self, DimList dim, const Scalar* correction, bool, Tensor& out) {
  spread_into(self, dim, correction, true, out, nullptr);
}
void var_mean_correction(Tensor& self, DimList dim, const Scalar* correction, bool, Tensor& out, Tensor& mean) {
  spread_into(self, dim, correction, false, out, &mean);
}
void std_mean_correction(Tensor& self, DimList dim, const Scalar* correction, bool, Tensor& out, Tensor& mean) {
  spread_into(self, dim, correction, true, out, &mean);
}

}  // namespace kernels
}  // namespace vivace

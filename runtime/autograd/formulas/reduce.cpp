// Derivatives of reductions. Gradients of reduced dims are expanded, never copied.
#include <cmath>

#include "generated/formulas/reduce/extremes.h"
#include "generated/formulas/reduce/moments.h"
#include "generated/formulas/reduce/sums.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/join.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/extremes.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/scan/cumulative.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/formulas/zeros.h"
#include "runtime/composite/value.h"

namespace vivace::formulas {
namespace {

using DimList = std::optional<IntList>;

/// g with the reduced dims put back as dims of size 1.
TensorRef restored(Tensor& g, int64_t ndim, DimList dim, bool keepdim) {
  if (keepdim || ndim == 0) return TensorRef::share(&g);
  const uint64_t mask = dim_mask(dim, ndim);
  Dims sizes;
  int at = 0;
  for (int64_t d = 0; d < ndim; ++d) sizes.push(mask >> d & 1 ? 1 : g.dims_[at++]);
  return ops::reshape(g, sizes);
}
int64_t count_of(IntList sizes, DimList dim) {
  const uint64_t mask = dim_mask(dim, int64_t(sizes.size()));
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask >> d & 1) n *= sizes[d];
  return n;
}
double correction_of(const Scalar* correction) { return correction ? correction->to_double() : 1; }

}  // namespace

TensorRef sum_backward(Tensor& g, IntList self_sizes, DimList dim, bool keepdim) {
  return ops::expand(*restored(g, int64_t(self_sizes.size()), dim, keepdim), self_sizes, false);
}
TensorRef nansum_backward(Tensor& g, Tensor& self, DimList dim, bool keepdim) {
  return ops::masked_fill_Scalar(*sum_backward(g, self.sizes(), dim, keepdim), *ops::isnan(self), Scalar(0));
}
// The division comes last, as in PyTorch, so that the gradient has memory of its own and a hook may write to it.
TensorRef mean_backward(Tensor& g, IntList self_sizes) {
  return ops::div_Scalar(*ops::expand(g, self_sizes, false), Scalar(count(self_sizes)));
}
TensorRef mean_dim_backward(Tensor& g, IntList self_sizes, DimList dim, bool keepdim) {
  const int64_t n = std::max<int64_t>(count_of(self_sizes, dim), 1);
  return ops::div_Scalar(*sum_backward(g, self_sizes, dim, keepdim), Scalar(n));
}

namespace {

/// Products of all other elements along `dim`: those before times those after. Needs no division, so zeros are no
/// trouble.
TensorRef others_product(Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim);
  Dims edge(self.sizes());
  edge[int(wrap_dim(dim, self.dim()))] = 1;
  const TensorRef one = ops::ones(edge, self.dtype(), self.device());
  if (n == 1) return one;
  const auto shifted_products = [&](Tensor& t) {
    Tensor* parts[] = {one.get(), nullptr};
    const TensorRef rest = ops::narrow(t, dim, 0, n - 1);
    parts[1] = rest.get();
    return ops::cumprod(*ops::cat(TensorList(parts, 2), dim), dim, std::nullopt);
  };
  const TensorRef before = shifted_products(self);
  const Dims flip{wrap_dim(dim, self.dim())};
  const TensorRef after = ops::flip(*shifted_products(*ops::flip(self, flip)), flip);
  return ops::mul_Tensor(*before, *after);
}
/// Whether the product of all elements, divided by one of them, has the digits of the product of the others.
bool divides_well(Tensor& product) {
  if (product.is_meta()) return false;
  const DType real = real_of(product.dtype());
  const double least = real == DType::Float64   ? std::numeric_limits<double>::min()
                       : real == DType::Float16 ? 0x1p-14
                                                : double(std::numeric_limits<float>::min());
  const TensorRef size = ops::abs(product);
  const TensorRef is_normal = ops::logical_and(*ops::ge_Scalar(*size, Scalar(least)),
                                               *ops::lt_Scalar(*size, Scalar(std::numeric_limits<double>::infinity())));
  const TensorRef all = ops::all(*is_normal);
  return is_true(*all);
}
TensorRef conj_of(Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : TensorRef::share(&t); }

/// The gradient by self of its product y by a division; null where that loses digits. What float cannot hold, double
/// often can: product(Float64) makes y anew. g and y spread over self.
template <class F>
TensorRef by_division(Tensor& g, Tensor& self, Tensor& y, F&& product) {
  if (divides_well(y)) return ops::div_Tensor(*ops::mul_Tensor(*conj_of(y), g), *conj_of(self));
  if (self.dtype() != DType::Float32 || y.dtype() != DType::Float32) return {};
  const TensorRef wide = product(DType::Float64);
  if (!divides_well(*wide)) return {};
  const TensorRef grad = ops::div_Tensor(*ops::mul_Tensor(*wide, g), *ops::to_dtype(self, DType::Float64));
  return ops::to_dtype(*grad, DType::Float32);
}

}  // namespace

TensorRef prod_backward(Tensor& g, Tensor& self, Tensor& y) {
  if (self.dim() == 0) return TensorRef::share(&g);
  if (self.numel() == 0) return ops::zeros_like(self);
  if (TensorRef grad = by_division(g, self, y, [&](DType t) { return ops::prod(self, t); })) return grad;
  const TensorRef flat = ops::reshape(self, Dims{-1});
  const TensorRef others = ops::reshape(*others_product(*flat, 0), self.sizes());
  return ops::mul_Tensor(*conj_of(*others), g);
}
TensorRef prod_dim_backward(Tensor& g, Tensor& self, Tensor& y, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return TensorRef::share(&g);
  if (self.numel() == 0) return ops::zeros_like(self);
  const auto spread = [&](Tensor& t) { return restored(t, self.dim(), IntList(&dim, 1), keepdim); };
  const TensorRef wide_g = spread(g);
  const auto product = [&](DType t) { return ops::prod_dim_int(self, dim, true, t); };
  if (TensorRef grad = by_division(*wide_g, self, *spread(y), product)) return grad;
  return ops::mul_Tensor(*conj_of(*others_product(self, dim)), *wide_g);
}

TensorRef vector_norm_backward(Tensor& g, Tensor& self, Tensor& y, const Scalar& ord, DimList dim, bool keepdim) {
  const double p = ord.to_double();
  const TensorRef grad = restored(g, self.dim(), dim, keepdim), norm = restored(y, self.dim(), dim, keepdim);
  if (p == 0) return ops::zeros_like(self);
  // Where the norm is 0 the gradient is, too: nothing is divided by 0 there, so that its derivatives are not NaN.
  const TensorRef is_zero = ops::eq_Scalar(*norm, Scalar(0)),
                  divisor = ops::masked_fill_Scalar(*norm, *is_zero, Scalar(1));
  if (p == 2) {  // g * x / norm
    const TensorRef scale = ops::masked_fill_Scalar(*ops::div_Tensor(*grad, *divisor), *is_zero, Scalar(0));
    return ops::mul_Tensor(self, *scale);
  }
  const TensorRef direction = ops::sgn(self);
  if (p == 1) return ops::mul_Tensor(*direction, *grad);
  const TensorRef size = ops::abs(self);
  if (std::isinf(p)) {
    std::vector<int64_t> reduced;
    const uint64_t mask = dim_mask(dim, self.dim());
    for (int64_t d = 0; d < self.dim(); ++d)
      if (mask >> d & 1) reduced.push_back(d);
    // The kernel's sizes of complex numbers may differ from abs() in the last bit.
    const auto extreme = p > 0 ? ops::amax : ops::amin;
    const TensorRef top = is_complex(self.dtype()) ? extreme(*size, IntList(reduced), true) : norm;
    const TensorRef at = ops::logical_or(*ops::eq_Tensor(*size, *top), *ops::isnan(*size));
    const TensorRef times =
        self.dim() ? ops::sum_dim_IntList(*at, IntList(reduced), true, std::nullopt) : ops::sum(*at, std::nullopt);
    return ops::mul_Tensor(*ops::mul_Tensor(*direction, *at), *ops::div_Tensor(*grad, *times));
  }
  // g * sgn(x) |x|^(p-1) / norm^(p-1), 0 where x is 0 (p > 1) or the norm is.
  TensorRef power = ops::mul_Tensor(*direction, *ops::pow_Tensor_Scalar(*size, Scalar(p - 1)));
  if (p < 2) power = ops::masked_fill_Scalar(*power, *ops::eq_Scalar(self, Scalar(0)), 0);
  const TensorRef scale = ops::div_Tensor(*grad, *ops::pow_Tensor_Scalar(*divisor, Scalar(p - 1)));
  return ops::mul_Tensor(*power, *ops::masked_fill_Scalar(*scale, *is_zero, Scalar(0)));
}

TensorRef logsumexp_backward(Tensor& g, Tensor& self, Tensor& y, IntList dim, bool keepdim) {
  const TensorRef grad = restored(g, self.dim(), dim, keepdim), top = restored(y, self.dim(), dim, keepdim);
  const TensorRef share =
      ops::exp(*ops::sub_Tensor(self, *ops::masked_fill_Scalar(*top, *ops::isinf(*top), 0), Scalar(1)));
  return ops::mul_Tensor(*grad, is_complex(self.dtype()) ? *ops::conj(*share) : *share);
}

TensorRef var_backward(Tensor& g, Tensor& self, DimList dim, const Scalar* correction, bool keepdim) {
  const double degrees = std::max(double(count_of(self.sizes(), dim)) - correction_of(correction), 0.0);
  if (self.dim() == 0)
    return ops::mul_Tensor(*ops::mul_Scalar(g, Scalar(2 / degrees)), *ops::sub_Tensor(self, self, Scalar(1)));
  const TensorRef centred = ops::sub_Tensor(self, *ops::mean_dim(self, dim, true, std::nullopt), Scalar(1));
  return ops::mul_Tensor(*ops::mul_Scalar(*restored(g, self.dim(), dim, keepdim), Scalar(2 / degrees)), *centred);
}
TensorRef std_backward(Tensor& g, Tensor& self, Tensor& y, DimList dim, const Scalar* correction, bool keepdim) {
  const TensorRef of_var =
      ops::masked_fill_Scalar(*ops::div_Tensor(g, *ops::mul_Scalar(y, Scalar(2))), *ops::eq_Scalar(y, Scalar(0)), 0);
  return var_backward(*of_var, self, dim, correction, keepdim);
}

namespace {

/// The spread's share of the gradient, which the mean's is added to. Neither counts without its own gradient: the
/// spread of one number is NaN, and so would its zeros be.
TensorRef with_mean(TensorRef of_spread, Tensor* g_mean, IntList self_sizes, DimList dim, bool keepdim) {
  if (!g_mean) return of_spread;
  TensorRef of_mean = mean_dim_backward(*g_mean, self_sizes, dim, keepdim);
  return of_spread ? ops::add_Tensor(*of_spread, *of_mean, Scalar(1)) : std::move(of_mean);
}

}  // namespace

TensorRef var_mean_backward(Tensor* g0, Tensor* g1, Tensor& self, DimList dim, const Scalar* correction, bool keepdim) {
  TensorRef of_var = g0 ? var_backward(*g0, self, dim, correction, keepdim) : TensorRef();
  return with_mean(std::move(of_var), g1, self.sizes(), dim, keepdim);
}
TensorRef std_mean_backward(Tensor* g0, Tensor* g1, Tensor& self, Tensor& y0, DimList dim, const Scalar* correction,
                            bool keepdim) {
  TensorRef of_std = g0 ? std_backward(*g0, self, y0, dim, correction, keepdim) : TensorRef();
  return with_mean(std::move(of_std), g1, self.sizes(), dim, keepdim);
}

namespace {

/// g shared among the elements that equal the extreme.
TensorRef shared(Tensor& g, Tensor& self, Tensor& extreme, DimList dim) {
  const TensorRef at = ops::logical_or(*ops::eq_Tensor(self, extreme), *ops::isnan(self));
  const TensorRef times = self.dim() ? ops::sum_dim_IntList(*at, dim, true, std::nullopt) : ops::sum(*at, std::nullopt);
  return ops::mul_Tensor(*at, *ops::div_Tensor(g, *times));
}

}  // namespace

TensorRef amax_backward(Tensor& g, Tensor& self, Tensor& y, IntList dim, bool keepdim) {
  return shared(*restored(g, self.dim(), dim, keepdim), self, *restored(y, self.dim(), dim, keepdim), dim);
}
TensorRef max_backward(Tensor& g, Tensor& self, Tensor& y) { return shared(g, self, y, std::nullopt); }

TensorRef select_along_backward(Tensor& g, IntList self_sizes, Tensor& indices, int64_t dim, bool keepdim) {
  if (self_sizes.empty()) return TensorRef::share(&g);
  if (keepdim) return scattered(g, self_sizes, dim, indices);
  return scattered(*ops::unsqueeze(g, dim), self_sizes, dim, *ops::unsqueeze(indices, dim));
}

}  // namespace vivace::formulas

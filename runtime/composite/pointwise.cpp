// Elementwise operators that are made of others.
#include <cmath>
#include <numbers>

#include "generated/kernels/pointwise/activation.h"
#include "generated/kernels/pointwise/arith.h"
#include "generated/kernels/pointwise/compare.h"
#include "generated/kernels/pointwise/divide.h"
#include "generated/kernels/pointwise/gamma.h"
#include "generated/kernels/pointwise/power.h"
#include "generated/kernels/pointwise/select.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/pointwise/activation.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/pointwise/special.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"

namespace vivace::composite {
namespace {

DType double_of(DType t) { return is_complex(t) ? DType::Complex128 : DType::Float64; }

TensorRef in_double(Tensor& t) { return ops::to_dtype(t, double_of(t.dtype())); }

}  // namespace

TensorRef positive(Tensor& self) {
  if (self.dtype() == DType::Bool) fail("The `+` operator, on a bool tensor is not supported.");
  return TensorRef::share(&self);
}

TensorRef rdiv_Tensor(Tensor& self, Tensor& other) { return ops::div_Tensor(other, self); }
TensorRef rdiv_Scalar(Tensor& self, const Scalar& other) { return ops::mul_Scalar(*ops::reciprocal(self), other); }

TensorRef where_method(Tensor& self, Tensor& condition, Tensor& other) {
  return ops::where_self(condition, self, other);
}
TensorRef where_method_Scalar(Tensor& self, Tensor& condition, const Scalar& other) {
  return ops::where_ScalarOther(condition, self, other);
}

TensorRef isclose(Tensor& self, Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) fail("isclose: ", self.dtype(), " did not match ", other.dtype());
  if (!(rtol >= 0)) fail("rtol must be greater than or equal to zero, but got ", rtol);
  if (!(atol >= 0)) fail("atol must be greater than or equal to zero, but got ", atol);
  if (is_differentiable(self.dtype())) return ops::isclose_floating(self, other, rtol, atol, equal_nan);
  TensorRef close = ops::eq_Tensor(self, other);
  if (rtol == 0 && atol == 0) return close;
  const TensorRef ours = is_bool(self.dtype()) ? ops::to_dtype(self, default_dtype) : TensorRef::share(&self);
  const TensorRef theirs = ops::to_dtype(other, default_dtype);
  const TensorRef allowed = ops::add_Scalar(*ops::abs(*ops::mul_Scalar(*theirs, rtol)), atol);
  return ops::logical_or(*close, *ops::le_Tensor(*ops::abs(*ops::sub_Tensor(*ours, *theirs)), *allowed));
}

TensorRef prelu(Tensor& self, Tensor& weight) {
  if (weight.dim() > 1) fail("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  const int64_t channels = self.dim() < 2 ? 1 : self.size(1);
  if (weight.numel() != 1 && weight.numel() != channels)
    fail("Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
         " and channel size = ", channels, ".");
  if (weight.numel() == 1) return ops::_prelu_kernel(self, *ops::reshape(weight, IntList{}));
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push(d == 1 ? channels : 1);
  return ops::_prelu_kernel(self, *ops::reshape(weight, sizes));
}

TensorRef float_power_Tensor_Tensor(Tensor& self, Tensor& exponent) {
  return ops::pow_Tensor_Tensor(*in_double(self), *in_double(exponent));
}
TensorRef float_power_Tensor_Scalar(Tensor& self, const Scalar& exponent) {
  return ops::pow_Tensor_Scalar(*in_double(self), exponent);
}
TensorRef float_power_Scalar(const Scalar& self, Tensor& exponent) {
  return ops::pow_Scalar(self, *in_double(exponent));
}

std::tuple<TensorRef, TensorRef> frexp_Tensor(Tensor& self) {
  if (!is_floating(self.dtype())) fail("torch.frexp() only supports floating-point dtypes");
  TensorRef mantissa = ops::_frexp_mantissa(self);
  return {std::move(mantissa), ops::to_dtype(*ops::_frexp_exponent(self), DType::Int32)};
}

TensorRef mvlgamma(Tensor& self, int64_t p) {
  if (p < 1) fail("p has to be greater than or equal to 1");
  if (is_complex(self.dtype())) fail("mvlgamma is not implemented for ", self.dtype());
  const DType type = is_floating(self.dtype()) ? self.dtype() : default_dtype;
  const TensorRef halves = ops::mul_Scalar(*ops::arange(p, type, self.device()), 0.5);
  const TensorRef all = ops::lgamma(*ops::sub_Tensor(*ops::unsqueeze(self, -1), *halves));
  const TensorRef sum = ops::sum_dim_IntList(*all, kInts<-1>, false, std::nullopt);
  return ops::add_Scalar(*sum, double(p) * double(p - 1) / 4 * std::log(std::numbers::pi));
}

}  // namespace vivace::composite

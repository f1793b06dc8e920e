// Elementwise operators that are made of others.
#include "generated/kernels/pointwise/activation.h"
#include "generated/kernels/pointwise/arith.h"
#include "generated/kernels/pointwise/divide.h"
#include "generated/kernels/pointwise/power.h"
#include "generated/kernels/pointwise/select.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/pointwise/activation.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/pointwise/select.h"
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

TensorRef ldexp(Tensor& self, Tensor& other) { return ops::mul_Tensor(self, *ops::pow_Scalar(2.0, other)); }

TensorRef rdiv_Tensor(Tensor& self, Tensor& other) { return ops::div_Tensor(other, self); }
TensorRef rdiv_Scalar(Tensor& self, const Scalar& other) { return ops::mul_Scalar(*ops::reciprocal(self), other); }

TensorRef where_method(Tensor& self, Tensor& condition, Tensor& other) {
  return ops::where_self(condition, self, other);
}
TensorRef where_method_Scalar(Tensor& self, Tensor& condition, const Scalar& other) {
  return ops::where_ScalarOther(condition, self, other);
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

}  // namespace vivace::composite

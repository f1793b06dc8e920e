// Derivatives of pointwise operators that depend on the value of a number.
#include "generated/formulas/pointwise/arith.h"
#include "generated/formulas/pointwise/complex.h"
#include "generated/formulas/pointwise/gamma.h"
#include "generated/formulas/pointwise/power.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/gamma.h"
#include "generated/ops/pointwise/logic.h"
#include "generated/ops/pointwise/power.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/view/regroup.h"
#include "runtime/core/saturate.h"

namespace vivace::formulas {
namespace {

Scalar conj(const Scalar& x) { return x.is_complex() ? Scalar(x.f, -x.imag) : x; }
/// Whether x is an integer that can be counted down and negated.
bool fits_negated(const Scalar& x) { return x.is_integral() && !x.is_above_int64() && x.i != INT64_MIN; }
Scalar negative(const Scalar& x) {
  if (x.is_complex()) return Scalar(-x.f, -x.imag);
  return fits_negated(x) ? Scalar(-x.i) : Scalar(-x.to_double());
}
Scalar minus_one(const Scalar& x) {
  if (x.is_complex()) return Scalar(x.f - 1, x.imag);
  return fits_negated(x) ? Scalar(x.i - 1) : Scalar(x.to_double() - 1);
}

}  // namespace

TensorRef scaled(Tensor& g, const Scalar& factor) {
  if (factor == 1) return TensorRef::share(&g);
  return ops::mul_Scalar(g, conj(factor));
}
TensorRef scaled_negative(Tensor& g, const Scalar& factor) {
  if (factor == 1) return ops::neg(g);
  return ops::mul_Scalar(g, negative(conj(factor)));
}

TensorRef no_derivative(Tensor&, std::string_view what) {
  fail_not_implemented("the derivative for '", what, "' is not implemented.");
}

TensorRef polygamma_backward(Tensor& g, int64_t n, Tensor& self) {
  return ops::mul_Tensor(g, *ops::polygamma(saturating_sum(n, 1), self));
}

TensorRef pow_self_backward(Tensor& g, Tensor& self, const Scalar& exponent) {
  if (exponent == 0) return ops::mul_Scalar(g, 0);
  if (exponent == 2) return ops::mul_Tensor(g, *ops::mul_Scalar(*ops::conj(self), 2));
  const TensorRef slope = ops::mul_Scalar(*ops::pow_Tensor_Scalar(self, minus_one(exponent)), exponent);
  return ops::mul_Tensor(g, *ops::conj(*slope));
}
TensorRef pow_self_backward(Tensor& g, Tensor& self, Tensor& exponent) {
  const TensorRef slope = ops::mul_Tensor(exponent, *ops::pow_Tensor_Tensor(self, *ops::sub_Scalar(exponent, 1)));
  return ops::where_ScalarSelf(*ops::eq_Scalar(exponent, 0), 0, *ops::mul_Tensor(g, *ops::conj(*slope)));
}

namespace {

/// g conj(y log(base)), 0 where the base is 0 and the exponent is not negative.
TensorRef exponent_backward(Tensor& g, Tensor& base, Tensor& exponent, Tensor& y) {
  const TensorRef slope = ops::mul_Tensor(y, *ops::log(base));
  const TensorRef real = is_complex(exponent.dtype()) ? ops::real(exponent) : TensorRef::share(&exponent);
  const TensorRef flat = ops::logical_and(*ops::eq_Scalar(base, 0), *ops::ge_Scalar(*real, 0));
  return ops::where_ScalarSelf(*flat, 0, *ops::mul_Tensor(g, *ops::conj(*slope)));
}

}  // namespace

TensorRef pow_exponent_backward(Tensor& g, Tensor& self, Tensor& exponent, Tensor& y) {
  return exponent_backward(g, self, exponent, y);
}
TensorRef pow_exponent_backward(Tensor& g, const Scalar& self, Tensor& exponent, Tensor& y) {
  const TensorRef base = scalar_tensor(self, self.is_complex() ? complex_of(y.dtype()) : y.dtype());
  return exponent_backward(g, *base, exponent, y);
}

TensorRef real_backward(Tensor& g) { return ops::real(g); }
TensorRef imag_backward(Tensor& g) { return ops::imag(g); }

TensorRef angle_backward(Tensor& g, Tensor& a) {
  if (!is_complex(a.dtype())) return ops::mul_Scalar(g, 0);
  const TensorRef length = ops::abs(a);
  const TensorRef turned = ops::mul_Scalar(*ops::div_Tensor(a, *ops::mul_Tensor(*length, *length)), Scalar(0.0, 1.0));
  return ops::where_ScalarSelf(*ops::eq_Scalar(*length, 0), 0, *ops::mul_Tensor(g, *turned));
}

namespace {

/// conj(g) exp(i angle)
TensorRef along(Tensor& g, Tensor& angle) {
  return ops::mul_Tensor(*ops::conj(g), *ops::polar(*ops::ones_like(angle), angle));
}

}  // namespace

TensorRef polar_abs_backward(Tensor& g, Tensor& angle) { return ops::real(*along(g, angle)); }
TensorRef polar_angle_backward(Tensor& g, Tensor& length, Tensor& angle) {
  return ops::neg(*ops::mul_Tensor(*ops::imag(*along(g, angle)), length));
}

}  // namespace vivace::formulas

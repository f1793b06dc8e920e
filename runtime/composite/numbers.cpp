// Arithmetic of two Python numbers, through tensors of their types.
#include "generated/kernels/pointwise/numbers.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/divide.h"

namespace vivace::composite {
namespace {

DType dtype_of(const Scalar& x) {
  if (x.is_bool()) return DType::Bool;
  if (x.is_integral()) return DType::Int64;
  return x.is_complex() ? complex_of(default_dtype) : default_dtype;
}

TensorRef as_tensor(const Scalar& x) { return ops::scalar_tensor(x, dtype_of(x)); }

}  // namespace

TensorRef add_numbers(const Scalar& self, const Scalar& other, const Scalar& alpha) {
  return ops::add_Tensor(*as_tensor(self), *as_tensor(other), alpha);
}
TensorRef sub_numbers(const Scalar& self, const Scalar& other, const Scalar& alpha) {
  return ops::sub_Tensor(*as_tensor(self), *as_tensor(other), alpha);
}
TensorRef mul_numbers(const Scalar& self, const Scalar& other) {
  return ops::mul_Tensor(*as_tensor(self), *as_tensor(other));
}
TensorRef div_numbers(const Scalar& self, const Scalar& other) {
  return ops::div_Tensor(*as_tensor(self), *as_tensor(other));
}
TensorRef div_numbers_mode(const Scalar& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return ops::div_Tensor_mode(*as_tensor(self), *as_tensor(other), rounding_mode);
}
TensorRef floor_divide_numbers(const Scalar& self, const Scalar& other) {
  return ops::floor_divide(*as_tensor(self), *as_tensor(other));
}

}  // namespace vivace::composite

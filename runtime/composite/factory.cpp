// linspace and logspace with 0-dim tensors as ends: their numbers are read.
#include "generated/kernels/factory/ranges.h"
#include "generated/ops/factory/ranges.h"
#include "runtime/composite/value.h"

namespace vivace::composite {
namespace {

Scalar end_of_range(const Tensor& t, const char* op) {
  if (t.dim() != 0)
    fail(op, " only supports 0-dimensional start and end tensors, but got a tensor with ", t.dim(), " dimension(s).");
  return value_of(t);
}

}  // namespace

using Dtype = std::optional<DType>;
using Place = std::optional<Device>;

TensorRef linspace_Tensor_Tensor(Tensor& start, Tensor& end, int64_t steps, Dtype dtype, Place device) {
  return ops::linspace(end_of_range(start, "linspace"), end_of_range(end, "linspace"), steps, dtype, device);
}
TensorRef linspace_Tensor_Scalar(Tensor& start, const Scalar& end, int64_t steps, Dtype dtype, Place device) {
  return ops::linspace(end_of_range(start, "linspace"), end, steps, dtype, device);
}
TensorRef linspace_Scalar_Tensor(const Scalar& start, Tensor& end, int64_t steps, Dtype dtype, Place device) {
  return ops::linspace(start, end_of_range(end, "linspace"), steps, dtype, device);
}
TensorRef logspace_Tensor_Tensor(Tensor& start, Tensor& end, int64_t steps, double base, Dtype dtype, Place device) {
  return ops::logspace(end_of_range(start, "logspace"), end_of_range(end, "logspace"), steps, base, dtype, device);
}
TensorRef logspace_Tensor_Scalar(Tensor& start, const Scalar& end, int64_t steps, double base, Dtype dtype,
                                 Place device) {
  return ops::logspace(end_of_range(start, "logspace"), end, steps, base, dtype, device);
}
TensorRef logspace_Scalar_Tensor(const Scalar& start, Tensor& end, int64_t steps, double base, Dtype dtype,
                                 Place device) {
  return ops::logspace(start, end_of_range(end, "logspace"), steps, base, dtype, device);
}

}  // namespace vivace::composite

// Order by other names.
#include "generated/kernels/index/sort.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/index/sort.h"
#include "runtime/core/promote.h"

namespace vivace::composite {

TensorRef argsort(Tensor& self, int64_t dim, bool descending) { return std::get<1>(ops::sort(self, dim, descending)); }
TensorRef argsort_stable(Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(ops::sort_stable(self, stable, dim, descending));
}

TensorRef searchsorted_Scalar(Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                              std::optional<std::string_view> side, Tensor* sorter) {
  const bool wide = self.is_floating() && !is_floating(sorted_sequence.dtype());
  TensorRef value = scalar_tensor(self, self.is_floating() ? DType::Float64 : dtype_of(self), sorted_sequence.device());
  // As numbers do, it takes the floating dtype of the tensor, where what is too large is infinite.
  if (!self.is_complex() && (wide || is_floating(sorted_sequence.dtype())))
    value = ops::to_dtype(*value, wide ? default_dtype : sorted_sequence.dtype());
  return ops::searchsorted_Tensor(sorted_sequence, *value, out_int32, right, side, sorter);
}
TensorRef bucketize_Tensor(Tensor& self, Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1) fail("boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return ops::searchsorted_Tensor(boundaries, self, out_int32, right, std::nullopt, nullptr);
}
TensorRef bucketize_Scalar(const Scalar& self, Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1) fail("boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return searchsorted_Scalar(boundaries, self, out_int32, right, std::nullopt, nullptr);
}

}  // namespace vivace::composite

// Indexing made of gather, nonzero and index_select.
#include "generated/kernels/index/gather.h"
#include "generated/kernels/index/select.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/select.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/dispatch/box.h"

namespace vivace::composite {
namespace {

/// Indices that may be negative, counted from the start.
TensorRef wrapped(Tensor& indices, int64_t size) {
  const TensorRef negative = ops::lt_Scalar(indices, Scalar(0));
  return ops::add_Tensor(indices, *ops::mul_Scalar(*negative, Scalar(size)), Scalar(1));
}

}  // namespace

TensorRef take_along_dim(Tensor& self, Tensor& indices, std::optional<int64_t> dim) {
  if (indices.dtype() != DType::Int64)
    fail("torch.take_along_dim(): dtype of indices should be Long but got ", indices.dtype());
  const TensorRef at = wrapped(indices, dim ? self.size(*dim) : self.numel());
  if (!dim) return ops::gather(*ops::reshape(self, Dims{-1}), 0, *ops::reshape(*at, Dims{-1}), false);
  if (self.dim() != indices.dim())
    fail("torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", self.dim(),
         " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = wrap_dim(*dim, self.dim());
  if (self.dim() == 0) return ops::gather(self, d, *at, false);
  Dims self_rest(self.sizes()), index_rest(indices.sizes());
  self_rest[int(d)] = index_rest[int(d)] = 1;
  Dims self_sizes = broadcast_sizes(self_rest, index_rest), index_sizes = self_sizes;
  self_sizes[int(d)] = self.dims_[d];
  index_sizes[int(d)] = indices.dims_[d];
  return ops::gather(*ops::expand(self, self_sizes, false), d, *ops::expand(*at, index_sizes, false), false);
}

TensorRef argwhere(Tensor& self) { return ops::nonzero(self); }

std::vector<TensorRef> where_condition(Tensor& condition) {
  if (condition.dim() == 0) {
    const TensorRef one = ops::unsqueeze(condition, 0);
    return ops::unbind_int(*ops::nonzero(*one), 1);
  }
  return ops::unbind_int(*ops::nonzero(condition), 1);
}

Ref<Object> nonzero_as_tuple(Tensor& self, bool as_tuple) {
  return Ref<Object>::steal(as_tuple ? box(where_condition(self)) : box(ops::nonzero(self)));
}

}  // namespace vivace::composite

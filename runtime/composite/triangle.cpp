// Diagonals written into matrices.
#include "generated/kernels/index/triangle.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"

namespace vivace::composite {

TensorRef diag_embed(Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  if (self.dim() == 0) wrap_dim(0, 0);
  const int64_t n = self.dim() + 1, d1 = wrap_dim(dim1, n), d2 = wrap_dim(dim2, n);
  if (d1 == d2) fail("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t length;
  if (offset == INT64_MIN || __builtin_add_overflow(self.size(-1), std::abs(offset), &length))
    fail("diag_embed: offset ", offset, " overflows");
  Dims sizes;
  int64_t next = 0;
  for (int64_t d = 0; d < n; ++d) sizes.push(d == d1 || d == d2 ? length : self.dims_[next++]);
  return ops::diagonal_backward(self, sizes, offset, d1, d2);
}

TensorRef diag(Tensor& self, int64_t diagonal) {
  if (self.dim() == 1) return diag_embed(self, diagonal, -2, -1);
  if (self.dim() != 2) fail("diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return ops::clone(*ops::diagonal(self, diagonal, 0, 1), MemoryFormat::Contiguous);
}

TensorRef diagflat(Tensor& self, int64_t offset) {
  return diag_embed(*ops::reshape(*ops::contiguous(self, MemoryFormat::Contiguous), Dims{-1}), offset, -2, -1);
}

}  // namespace vivace::composite

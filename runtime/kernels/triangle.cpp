// Triangles of matrices, and the trace.
#include <algorithm>
#include <cstring>

#include "generated/kernels/index/triangle.h"
#include "runtime/core/saturate.h"
#include "runtime/kernels/fold.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace meta {

TensorRef tril(Tensor& self, int64_t) {
  if (self.dim() < 2) fail("tril: input tensor must have at least 2 dimensions");
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef triu(Tensor& self, int64_t) {
  if (self.dim() < 2) fail("triu: input tensor must have at least 2 dimensions");
  return empty(self.sizes(), self.dtype(), self.device());
}
TensorRef trace(Tensor& self) {
  if (self.dim() != 2) fail("trace: expected a matrix, but got tensor with dim ", self.dim());
  return empty({}, is_differentiable(self.dtype()) ? self.dtype() : DType::Int64, self.device());
}

}  // namespace meta

namespace kernels {
namespace {

/// Copies the columns [first(row), last(row)) of each row and zeroes the others.
void keep_columns(const Tensor& self, int64_t diagonal, bool lower, Tensor& out) {
  if (out.numel() == 0) return;
  const TensorRef from = contiguous(self), to = contiguous(out);
  const int64_t rows = self.size(-2), columns = self.size(-1), size = int64_t(self.item_size());
  parallel_for(0, self.numel() / columns, std::max<int64_t>(1, 32768 / columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t edge = std::clamp<int64_t>(saturating_sum(i % rows + (lower ? 1 : 0), diagonal), 0, columns);
      char* p = to->raw() + i * columns * size;
      const char* q = from->raw() + i * columns * size;
      const int64_t kept = lower ? 0 : edge, zeroed = lower ? edge : 0;
      const size_t left = size_t(edge * size), right = size_t((columns - edge) * size);
      if (p != q) std::memcpy(p + kept * size, q + kept * size, lower ? left : right);
      std::memset(p + zeroed * size, 0, lower ? right : left);
    }
  });
  if (to.get() != &out) copy_into(out, *to);
}

}  // namespace

void tril(Tensor& self, int64_t diagonal, Tensor& out) { keep_columns(self, diagonal, true, out); }
void triu(Tensor& self, int64_t diagonal, Tensor& out) { keep_columns(self, diagonal, false, out); }

void trace(Tensor& self, Tensor& out) {
  const int64_t length = std::min(self.dims_[0], self.dims_[1]);
  const TensorRef line = vivace::alias(self);
  set_layout(*line, Dims{length}, Dims{self.dims_[2] + self.dims_[3]}, self.storage_offset());
  fold(Fold::Sum, *line, fold_type(out.dtype()), out, 1);
}

}  // namespace kernels
}  // namespace vivace

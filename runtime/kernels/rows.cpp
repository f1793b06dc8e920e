// Views and copies that bring a dim to the end.
#include "runtime/kernels/rows.h"

#include <algorithm>

namespace vivace::kernels {

TensorRef dim_to_end(Tensor& t, int64_t dim) {
  Dims sizes, strides;
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d == dim) continue;
    sizes.push(t.sizes()[d]);
    strides.push(t.strides()[d]);
  }
  sizes.push(t.sizes()[dim]);
  strides.push(t.strides()[dim]);
  return make_view(t, sizes, strides, t.storage_offset());
}

TensorRef as_rows(Tensor& t, int64_t dim, DType dtype) {
  TensorRef moved = dim >= t.dim() - 1 ? TensorRef::share(&t) : dim_to_end(t, dim);
  TensorRef dense = contiguous(*moved);
  return dense->dtype() == dtype ? dense : to_dtype(*dense, dtype);
}

RowBuffer::RowBuffer(Tensor& out, int64_t dim, DType dtype) : out(out), dim(std::min(dim, out.dim() - 1)) {
  if (dim >= out.dim() - 1 && out.is_contiguous() && out.dtype() == dtype) return;
  Dims sizes;
  for (int64_t d = 0; d < out.dim(); ++d)
    if (d != this->dim) sizes.push(out.sizes()[d]);
  if (out.dim()) sizes.push(out.sizes()[this->dim]);
  buffer = empty(sizes, dtype);
}

void RowBuffer::finish() {
  if (!buffer) return;
  TensorRef moved = dim >= out.dim() - 1 ? TensorRef::share(&out) : dim_to_end(out, dim);
  copy_into(*moved, *buffer);
}

}  // namespace vivace::kernels

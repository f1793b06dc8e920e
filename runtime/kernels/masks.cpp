// Elements chosen by a mask, and where elements are not zero. Shapes of results depend on values.
#include <cstring>

#include "generated/kernels/index/select.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/masks.h"
#include "runtime/loop/nest.h"

namespace vivace::kernels {
namespace {

/// Truth of each element, as contiguous bytes.
TensorRef truths(const Tensor& t) { return contiguous(*vivace::to_dtype(t, DType::Bool)); }

void check_mask(const char* op, const Tensor& mask) {
  if (mask.dtype() != DType::Bool) fail(op, ": expected BoolTensor or ByteTensor for mask");
}

/// `t` seen with the sizes that it broadcasts to.
TensorRef spread(const Tensor& t, IntList sizes) {
  const TensorRef view = vivace::alias(t);
  const int lead = int(sizes.size()) - t.ndim_;
  Dims strides;
  for (int d = 0; d < int(sizes.size()); ++d)
    strides.push(d < lead || t.dims_[d - lead] == 1 ? 0 : t.dims_[t.ndim_ + d - lead]);
  set_layout(*view, sizes, strides, t.storage_offset());
  return view;
}

}  // namespace

void mask_coordinates(const uint8_t* set, IntList sizes, int64_t n, int64_t* const* to) {
  const int last = int(sizes.size()) - 1;
  const int64_t width = sizes[size_t(last)];
  int64_t at[kMaxDims] = {}, *column = to[last];
  for (int64_t k = 0; k < n; set += width) {
    const int64_t start = k;
    for (int64_t i = 0; i < width && k < n; ++i) {  // without a branch on the mask
      column[k] = i;
      k += set[i] != 0;
    }
    for (int d = 0; d < last; ++d) std::fill(to[d] + start, to[d] + k, at[d]);
    for (int d = last - 1; d >= 0 && ++at[d] == sizes[size_t(d)]; --d) at[d] = 0;
  }
}

TensorRef nonzero(Tensor& self) {
  const TensorRef set = truths(self);
  const auto* p = set->data<uint8_t>();
  const int ndim = self.ndim_;
  int64_t n = 0;
  for (int64_t i = 0; i < set->numel(); ++i) n += p[i];
  // Laid out column by column, as PyTorch does.
  TensorRef out = vivace::empty_strided(Dims{n, ndim}, Dims{1, std::max<int64_t>(n, 1)}, DType::Int64, self.device());
  int64_t* to = out->data<int64_t>();
  if (ndim == 0 || n == 0) return out;
  int64_t* columns[kMaxDims];
  for (int d = 0; d < ndim; ++d) columns[d] = to + d * n;
  mask_coordinates(p, self.sizes(), n, columns);
  return out;
}

TensorRef masked_select(Tensor& self, Tensor& mask) {
  check_mask("masked_select", mask);
  const Dims sizes = broadcast_sizes(self.sizes(), mask.sizes());
  const TensorRef set = contiguous(*spread(mask, sizes)), from = contiguous(*spread(self, sizes));
  const auto* p = set->data<uint8_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < set->numel(); ++i) n += p[i];
  TensorRef out = vivace::empty({n}, self.dtype(), self.device());
  visit_bits(self.dtype(), [&]<class T>() {
    const T* x = from->data<T>();
    T* to = out->data<T>();
    for (int64_t i = 0, k = 0; k < n; ++i) {
      to[k] = x[i];
      k += p[i];
    }
  });
  return out;
}

void masked_scatter(Tensor& self, Tensor& mask, Tensor& source, Tensor& out) {
  const TensorRef set = contiguous(*spread(mask, out.sizes())), from = contiguous(source);
  if (self.numel() == out.numel())
    copy_into(out, self);
  else
    copy_into(out, *spread(self, out.sizes()));
  const TensorRef to = contiguous(out);
  const auto* p = set->data<uint8_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < set->numel(); ++i) n += p[i] != 0;
  if (n > from->numel())
    fail(
        "masked_scatter: expected self and source to have same dtypes and source to have at least as many elements as "
        "there are ones in mask, but it has ",
        from->numel());
  visit_bits(self.dtype(), [&]<class T>() {
    const T* x = from->data<T>();
    T* y = to->data<T>();
    for (int64_t i = 0, k = 0; k < n; ++i) {
      y[i] = p[i] ? x[k] : y[i];
      k += p[i] != 0;
    }
  });
  if (to.get() != &out) copy_into(out, *to);
}

}  // namespace vivace::kernels

namespace vivace::meta {

TensorRef masked_scatter(Tensor& self, Tensor& mask, Tensor& source) {
  if (mask.dtype() != DType::Bool)
    fail("masked_scatter_ only supports boolean masks, but got mask with dtype ", mask.dtype());
  if (self.dtype() != source.dtype())
    fail("masked_scatter: expected self and source to have same dtypes but got ", self.dtype(), " and ",
         source.dtype());
  return empty(broadcast_sizes(self.sizes(), mask.sizes()), self.dtype(), self.device());
}

}  // namespace vivace::meta

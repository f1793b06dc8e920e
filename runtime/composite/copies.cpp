// Views that are copied at once, and copies with a part replaced: written through the view of that part.
#include <algorithm>

#include "generated/kernels/view/copies.h"
#include "generated/kernels/view/regroup.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"

namespace vivace::composite {
namespace {

std::vector<TensorRef> copied(std::vector<TensorRef> views) {
  for (TensorRef& part : views) part = dense_copy(*part);
  return views;
}

/// Whether elements share memory, as those of an expanded tensor do.
bool repeats(const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.strides()[size_t(d)] == 0 && t.sizes()[size_t(d)] > 1) return true;
  return false;
}

/// A copy of self, with its strides, in which src stands where `part` of the copy looks.
template <class F>
TensorRef with_part(Tensor& self, Tensor& src, F&& part) {
  TensorRef out =
      repeats(self) ? ops::new_empty(self, self.sizes()) : ops::new_empty_strided(self, self.sizes(), self.strides());
  ops::copy_(*out, self);
  const TensorRef place = part(*out);
  if (!std::ranges::equal(place->sizes(), src.sizes()))
    fail("expected src to have a size equal to the slice of self. src size = ", src.sizes(),
         ", slice size = ", place->sizes());
  ops::copy_(*place, src);
  return out;
}

}  // namespace

TensorRef dense_copy(Tensor& self) { return ops::clone(self, MemoryFormat::Contiguous); }

std::vector<TensorRef> unbind_copy(Tensor& self, int64_t dim) { return copied(ops::unbind_int(self, dim)); }
std::vector<TensorRef> split_copy(Tensor& self, int64_t split_size, int64_t dim) {
  return copied(ops::split_Tensor(self, split_size, dim));
}
std::vector<TensorRef> split_with_sizes_copy(Tensor& self, IntList split_sizes, int64_t dim) {
  return copied(ops::split_with_sizes(self, split_sizes, dim));
}

TensorRef select_scatter(Tensor& self, Tensor& src, int64_t dim, int64_t index) {
  return with_part(self, src, [=](Tensor& out) { return ops::select_int(out, dim, index); });
}
TensorRef slice_scatter(Tensor& self, Tensor& src, int64_t dim, std::optional<int64_t> start,
                        std::optional<int64_t> end, int64_t step) {
  return with_part(self, src, [=](Tensor& out) { return ops::slice_Tensor(out, dim, start, end, step); });
}
TensorRef diagonal_scatter(Tensor& self, Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  return with_part(self, src, [=](Tensor& out) { return ops::diagonal(out, offset, dim1, dim2); });
}
TensorRef as_strided_scatter(Tensor& self, Tensor& src, IntList size, IntList stride,
                             std::optional<int64_t> storage_offset) {
  // Offsets count from the start of self's storage; the copy has nothing before its first element.
  const int64_t offset = storage_offset.value_or(self.storage_offset()) - self.storage_offset();
  return with_part(self, src, [=](Tensor& out) { return ops::as_strided(out, size, stride, offset); });
}

TensorRef sum_to_size(Tensor& self, IntList size) {
  if (size.empty()) return ops::sum(self, std::nullopt);
  const int64_t lead = self.dim() - int64_t(size.size());
  Dims summed;
  bool fits = lead >= 0;
  for (int64_t d = 0; fits && d < self.dim(); ++d) {
    const int64_t have = self.dims_[d], want = d < lead ? 1 : size[size_t(d - lead)];
    fits = want == 1 || want == have;
    if (d < lead || (want == 1 && have != 1)) summed.push(d);
  }
  if (!fits) fail("size {", size, "} is not expandable to size {", self.sizes(), "}.");
  if (summed.n == 0) return TensorRef::share(&self);
  return ops::reshape(*ops::sum_dim_IntList(self, IntList(summed), true, std::nullopt), size);
}

}  // namespace vivace::composite

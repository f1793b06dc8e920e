// Joins and turns made of cat, repeat, flip and transpose.
#include "generated/kernels/index/join.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/index/join.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/core/saturate.h"

namespace vivace::composite {
namespace {

TensorRef same(Tensor& t) { return TensorRef::share(&t); }

TensorRef atleast(Tensor& t, int64_t dims) {
  if (t.dim() >= dims) return same(t);
  if (dims == 1) return ops::reshape(t, Dims{1});
  if (dims == 2) return t.dim() == 0 ? ops::reshape(t, Dims{1, 1}) : ops::unsqueeze(t, 0);
  if (t.dim() == 2) return ops::unsqueeze(t, -1);
  if (t.dim() == 1) return ops::reshape(t, Dims{1, t.dims_[0], 1});
  return ops::reshape(t, Dims{1, 1, 1});
}

template <class F>
TensorRef joined(TensorList tensors, const char* op, F&& shaped, int64_t dim_of_vectors, int64_t dim) {
  if (tensors.empty()) fail(op, " expects a non-empty TensorList");
  std::vector<TensorRef> parts;
  std::vector<Tensor*> pointers;
  for (Tensor* t : tensors) {
    parts.push_back(shaped(*t));
    pointers.push_back(parts.back().get());
  }
  return ops::cat(pointers, pointers[0]->dim() == 1 ? dim_of_vectors : dim);
}

}  // namespace

TensorRef hstack(TensorList tensors) {
  return joined(tensors, "hstack", [](Tensor& t) { return atleast(t, 1); }, 0, 1);
}
TensorRef vstack(TensorList tensors) {
  return joined(tensors, "vstack", [](Tensor& t) { return atleast(t, 2); }, 0, 0);
}
TensorRef dstack(TensorList tensors) {
  return joined(tensors, "dstack", [](Tensor& t) { return atleast(t, 3); }, 2, 2);
}
TensorRef column_stack(TensorList tensors) {
  return joined(
      tensors, "column_stack", [](Tensor& t) { return t.dim() <= 1 ? ops::reshape(t, Dims{t.numel(), 1}) : same(t); },
      1, 1);
}

TensorRef tile(Tensor& self, IntList dims) {
  Dims repeats;
  for (int64_t i = int64_t(dims.size()); i < self.dim(); ++i) repeats.push(1);
  for (int64_t r : dims) repeats.push(r);
  return ops::repeat(self, repeats);
}

TensorRef fliplr(Tensor& self) {
  if (self.dim() < 2) fail("Input must be >= 2-d.");
  return ops::flip(self, Dims{1});
}
TensorRef flipud(Tensor& self) {
  if (self.dim() < 1) fail("Input must be >= 1-d.");
  return ops::flip(self, Dims{0});
}

TensorRef rot90(Tensor& self, int64_t k, IntList dims) {
  if (dims.size() != 2) fail("expected total rotation dims == 2, but got dims = ", dims.size());
  if (self.dim() < 2) fail("expected total dims >= 2, but got total dims = ", self.dim());
  const auto place = [&](int64_t d) { return d < 0 ? saturating_sum(d, self.dim()) : d; };
  if (place(dims[0]) == place(dims[1]))
    fail("expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  wrap_dim(dims[0], self.dim());
  wrap_dim(dims[1], self.dim());
  switch (((k % 4) + 4) % 4) {
    case 1:
      return ops::transpose_int(*ops::flip(self, Dims{dims[1]}), dims[0], dims[1]);
    case 2:
      return ops::flip(self, dims);
    case 3:
      return ops::transpose_int(*ops::flip(self, Dims{dims[0]}), dims[0], dims[1]);
    default:
      return ops::clone(self, MemoryFormat::Contiguous);
  }
}

}  // namespace vivace::composite

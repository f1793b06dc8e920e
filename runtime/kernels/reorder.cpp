// Copies in another order: flip and roll.
#include "generated/kernels/index/join.h"
#include "generated/kernels/view/parts.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/layout.h"
#include "runtime/loop/nest.h"

namespace vivace {

TensorRef meta::flip(Tensor& self, IntList dims) {
  uint64_t seen = 0;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, self.dim());
    if (seen >> d & 1) fail("dim ", d, " appears multiple times in the list of dims");
    seen |= uint64_t(1) << d;
  }
  return empty_like(self);
}

void kernels::flip(Tensor& self, IntList dims, Tensor& out) {
  if (out.numel() == 0) return;
  const uint64_t mask = dims.empty() ? 0 : dim_mask(dims, self.dim());
  const int n = self.ndim_;
  const int64_t size = int64_t(self.item_size());
  Nest<2> nest;
  nest.base[0] = out.raw();
  nest.base[1] = self.raw();
  for (int d = n - 1; d >= 0; --d) {
    int64_t step = self.dims_[n + d] * size;
    if (mask >> d & 1) {
      nest.base[1] += (self.dims_[d] - 1) * step;
      step = -step;
    }
    nest.push(self.dims_[d], {out.dims_[n + d] * size, step});
  }
  nest.sort();
  nest.coalesce();
  nest.run([&](char** p, int64_t m, const int64_t* s) {
    convert_run(out.dtype(), p[0], s[0], self.dtype(), p[1], s[1], m);
  });
}

TensorRef meta::roll(Tensor& self, IntList shifts, IntList dims) {
  if (shifts.empty()) fail("`shifts` required");
  if (dims.empty() ? shifts.size() != 1 : dims.size() != shifts.size())
    fail("shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  for (int64_t dim : dims) wrap_dim(dim, self.dim());
  const MemoryFormat format = dims.empty() ? MemoryFormat::Contiguous : kernels::format_of(self);
  return kernels::empty_images(self.sizes(), self.dtype(), self.device(), format);
}

void kernels::roll(Tensor& self, IntList shifts, IntList dims, Tensor& out) {
  if (out.numel() == 0) return;
  TensorRef from = TensorRef::share(&self);
  if (dims.empty()) {
    const TensorRef flat = contiguous(self);
    const int64_t n = flat->numel(), size = int64_t(flat->item_size()), by = ((shifts[0] % n) + n) % n;
    convert_block(out.dtype(), out.raw() + by * size, out.dtype(), flat->raw(), n - by);
    convert_block(out.dtype(), out.raw(), out.dtype(), flat->raw() + (n - by) * size, by);
    return;
  }
  for (size_t k = 0; k < dims.size(); ++k) {
    TensorRef to = k + 1 == dims.size() ? TensorRef::share(&out) : empty(self.sizes(), self.dtype());
    const int64_t d = wrap_dim(dims[k], self.dim()), n = self.size(d), by = ((shifts[k] % n) + n) % n;
    if (self.dim() == 0)
      copy_into(*to, *from);
    else {
      copy_into(*narrow(*to, d, by, n - by), *narrow(*from, d, 0, n - by));
      copy_into(*narrow(*to, d, 0, by), *narrow(*from, d, n - by, by));
    }
    from = to;
  }
}

}  // namespace vivace

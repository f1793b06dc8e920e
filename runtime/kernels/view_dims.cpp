// Views that permute, add or drop dims, and their in-place forms, which replace the layout of the tensor itself.
#include "generated/kernels/view/dims.h"

namespace vivace::kernels {
namespace {

struct Layout {
  Dims sizes, strides;
  explicit Layout(const Tensor& t) : sizes(t.sizes()), strides(t.strides()) {}
  Layout() = default;
  void push(int64_t size, int64_t stride) {
    sizes.push(size);
    strides.push(stride);
  }
};

TensorRef show(Tensor& self, const Layout& l) { return make_view(self, l.sizes, l.strides, self.storage_offset()); }
void change(Tensor& self, const Layout& l) { set_layout(self, l.sizes, l.strides, self.storage_offset()); }

Layout transposed(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  Layout l(self);
  if (self.dim() == 0) return l;
  std::swap(l.sizes[int(dim0)], l.sizes[int(dim1)]);
  std::swap(l.strides[int(dim0)], l.strides[int(dim1)]);
  return l;
}

Layout transposed_matrix(const Tensor& self) {
  if (self.dim() > 2) fail("t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return self.dim() < 2 ? Layout(self) : transposed(self, 0, 1);
}

/// Drops the dims of `mask` that have size 1.
Layout squeezed(const Tensor& self, uint64_t mask) {
  Layout l;
  for (int d = 0; d < self.ndim_; ++d)
    if (self.dims_[d] != 1 || !(mask >> d & 1)) l.push(self.dims_[d], self.dims_[self.ndim_ + d]);
  return l;
}
uint64_t bit_of(const Tensor& self, int64_t dim) { return uint64_t(1) << wrap_dim(dim, self.dim()); }
uint64_t bits_of(const Tensor& self, IntList dims) { return dims.empty() ? 0 : dim_mask(dims, self.dim()); }

Layout unsqueezed(const Tensor& self, int64_t dim) {
  const int at = int(wrap_dim(dim, self.dim() + 1)), n = self.ndim_;
  Layout l;
  for (int d = 0; d < at; ++d) l.push(self.dims_[d], self.dims_[n + d]);
  l.push(1, at < n ? self.dims_[at] * self.dims_[n + at] : 1);
  for (int d = at; d < n; ++d) l.push(self.dims_[d], self.dims_[n + d]);
  return l;
}

}  // namespace

TensorRef transpose_int(Tensor& self, int64_t dim0, int64_t dim1) { return show(self, transposed(self, dim0, dim1)); }
void transpose_(Tensor& self, int64_t dim0, int64_t dim1) { change(self, transposed(self, dim0, dim1)); }

TensorRef t(Tensor& self) { return show(self, transposed_matrix(self)); }
void t_(Tensor& self) { change(self, transposed_matrix(self)); }

TensorRef squeeze(Tensor& self) { return show(self, squeezed(self, ~uint64_t(0))); }
TensorRef squeeze_dim(Tensor& self, int64_t dim) { return show(self, squeezed(self, bit_of(self, dim))); }
TensorRef squeeze_dims(Tensor& self, IntList dim) { return show(self, squeezed(self, bits_of(self, dim))); }
void squeeze_(Tensor& self) { change(self, squeezed(self, ~uint64_t(0))); }
void squeeze_dim_(Tensor& self, int64_t dim) { change(self, squeezed(self, bit_of(self, dim))); }
void squeeze_dims_(Tensor& self, IntList dim) { change(self, squeezed(self, bits_of(self, dim))); }

TensorRef unsqueeze(Tensor& self, int64_t dim) { return show(self, unsqueezed(self, dim)); }
void unsqueeze_(Tensor& self, int64_t dim) { change(self, unsqueezed(self, dim)); }

TensorRef permute(Tensor& self, IntList dims) {
  const int n = self.ndim_;
  if (int(dims.size()) != n)
    fail(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
        "ordering of "
        "dimensions i.e. input.dim() = ",
        n, " is not equal to len(dims) = ", dims.size());
  Layout l;
  uint64_t seen = 0;
  for (int64_t dim : dims) {
    const int d = int(wrap_dim(dim, n));
    if (seen >> d & 1) fail("permute(): duplicate dims are not allowed.");
    seen |= uint64_t(1) << d;
    l.push(self.dims_[d], self.dims_[n + d]);
  }
  return show(self, l);
}

TensorRef expand(Tensor& self, IntList size, [[maybe_unused]] bool implicit) {
  const int n = int(size.size()), lead = n - self.ndim_;
  if (lead < 0)
    fail("expand(", self.dtype(), "{", self.sizes(), "}, size=", size, "): the number of sizes provided (", n,
         ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  Layout l;
  for (int d = 0; d < n; ++d) {
    const int at = d - lead;
    int64_t want = size[d];
    if (at < 0) {
      if (want < 0)
        fail("The expanded size of the tensor (", want, ") isn't allowed in a leading, non-existing dimension ", d);
      l.push(want, 0);
      continue;
    }
    const int64_t have = self.dims_[at], stride = self.dims_[self.ndim_ + at];
    if (want == -1) want = have;
    if (want != have && (have != 1 || want < 0))
      fail("The expanded size of the tensor (", want, ") must match the existing size (", have,
           ") at non-singleton dimension ", d, ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
    l.push(want, want == have ? stride : 0);
  }
  // A new leading dim of size 1 gets the stride of a contiguous tensor, as PyTorch gives it.
  for (int d = lead - 1; d >= 0; --d)
    if (l.sizes[d] == 1) l.strides[d] = d + 1 < n ? l.sizes[d + 1] * l.strides[d + 1] : 0;
  return show(self, l);
}

}  // namespace vivace::kernels

// Views that are other views by another name. What comes back is self where there is nothing to do.
#include "generated/kernels/view/dims.h"
#include "generated/kernels/view/parts.h"
#include "generated/kernels/view/regroup.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/composite/value.h"
#include "runtime/kernels/view_shape.h"

namespace vivace::composite {
namespace {

TensorRef same(Tensor& t) { return TensorRef::share(&t); }

/// The dims in the order that movedim gives them.
Dims moved(const Tensor& self, IntList source, IntList destination) {
  const int n = self.ndim_, count = int(source.size());
  if (source.size() != destination.size())
    fail("movedim: Invalid source or destination dims: source (", source,
         " dims) should contain the same number of dims as destination (", destination, " dims)");
  int64_t from[kMaxDims];  // for each place of the result
  uint64_t taken = 0, placed = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t s = wrap_dim(source[i], n), d = wrap_dim(destination[i], n);
    if (taken >> s & 1) fail("movedim: repeated dim in `source` (", source, ")");
    if (placed >> d & 1) fail("movedim: repeated dim in `destination` (", destination, ")");
    taken |= uint64_t(1) << s;
    placed |= uint64_t(1) << d;
    from[d] = s;
  }
  Dims order;
  int next = 0;
  for (int d = 0; d < n; ++d) {
    if (placed >> d & 1) {
      order.push(from[d]);
    } else {
      while (taken >> next & 1) ++next;
      order.push(next++);
    }
  }
  return order;
}

int64_t split_dim(const Tensor& self, const char* name, int64_t least, int64_t dim) {
  if (self.dim() < least)
    fail("torch.", name, " requires a tensor with at least ", least, " dimension", least > 1 ? "s" : "",
         ", but got a tensor with ", self.dim(), " dimensions!");
  return dim;
}
std::vector<TensorRef> split_evenly(Tensor& self, const char* name, int64_t dim, int64_t sections) {
  const int64_t size = self.size(dim);
  if (sections == 0 || size % sections)
    fail("torch.", name, " attempted to split along dimension ", dim, ", but the size of the dimension ", size,
         " is not divisible by the split_size ", sections, "!");
  return ops::tensor_split_sections(self, sections, dim);
}

}  // namespace

TensorRef reshape(Tensor& self, IntList shape) {
  const Dims sizes = kernels::infer_sizes(shape, self.numel());
  Dims strides;
  if (kernels::view_strides(self, sizes, strides)) return ops::view(self, sizes);
  return ops::_unsafe_view(*ops::clone(self, MemoryFormat::Contiguous), sizes);
}

TensorRef flatten_using_ints(Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim(start_dim, self.dim()), last = wrap_dim(end_dim, self.dim());
  if (first > last) fail("flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return reshape(self, Dims{1});
  if (first == last) return same(self);
  Dims sizes;
  int64_t merged = 1;
  for (int64_t d = first; d <= last; ++d) merged *= self.dims_[d];
  for (int64_t d = 0; d < first; ++d) sizes.push(self.dims_[d]);
  sizes.push(merged);
  for (int64_t d = last + 1; d < self.dim(); ++d) sizes.push(self.dims_[d]);
  return reshape(self, sizes);
}

TensorRef unflatten_int(Tensor& self, int64_t dim, IntList sizes) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (sizes.empty()) fail("unflatten: sizes must be non-empty");
  if (self.dim() == 0) fail("unflatten: expects at least a 1-dimensional tensor");
  int64_t known = 1;
  int holes = 0;
  bool fits = true;  // into 64 bits
  for (int64_t s : sizes)
    if (s == -1)
      ++holes;
    else
      fits &= !__builtin_mul_overflow(known, s, &known);
  const int64_t size = self.dims_[d];
  if (holes > 1) fail("only one dimension can be inferred");
  if (!fits || (holes ? known == 0 || size % known : known != size))
    fail("unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim, " (", size,
         ") in the input tensor");
  Dims whole;
  for (int64_t k = 0; k < d; ++k) whole.push(self.dims_[k]);
  for (int64_t s : sizes) whole.push(s == -1 ? size / known : s);
  for (int64_t k = d + 1; k < self.dim(); ++k) whole.push(self.dims_[k]);
  return ops::view(self, whole);
}

TensorRef ravel(Tensor& self) { return reshape(*ops::contiguous(self), Dims{-1}); }

TensorRef movedim_intlist(Tensor& self, IntList source, IntList destination) {
  return ops::permute(self, moved(self, source, destination));
}
TensorRef movedim_int(Tensor& self, int64_t source, int64_t destination) {
  return ops::permute(self, moved(self, {&source, 1}, {&destination, 1}));
}

TensorRef reversed_dims(Tensor& self) {
  if (self.dim() != 2 && self.dim() != 0)
    warn(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
        "an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange("
        "x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.");
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push(d);
  return ops::permute(self, order);
}
TensorRef matrix_transpose(Tensor& self) {
  if (self.dim() == 0) {
    warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.");
    return same(self);
  }
  if (self.dim() < 2)
    fail("tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
  return ops::transpose_int(self, -2, -1);
}
TensorRef matrix_adjoint(Tensor& self) {
  if (self.dim() == 0) {
    warn("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().");
    return ops::conj(self);
  }
  if (self.dim() < 2)
    fail("tensor.adjoint() is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
  TensorRef view = ops::transpose_int(self, -2, -1);
  return is_complex(self.dtype()) ? ops::conj(*view) : view;
}
TensorRef matrix_H(Tensor& self) {
  if (self.dim() != 0 && self.dim() != 2)
    fail("tensor.H is only supported on matrices (2-D tensors). Got ", self.dim(), "-D tensor.");
  if (self.dim() == 0) return is_complex(self.dtype()) ? ops::conj(self) : same(self);
  return matrix_adjoint(self);
}

TensorRef real(Tensor& self) {
  if (!is_complex(self.dtype())) return same(self);
  return ops::select_int(*ops::view_as_real(self), -1, 0);
}
TensorRef imag(Tensor& self) {
  if (!is_complex(self.dtype())) fail("imag is not implemented for tensors with non-complex dtypes.");
  return ops::select_int(*ops::view_as_real(self), -1, 1);
}

TensorRef narrow_Tensor(Tensor& self, int64_t dim, Tensor& start, int64_t length) {
  if (start.dim() != 0 || !is_integral(start.dtype())) fail("start must be an 0-dim integral Tensor.");
  return ops::narrow(self, dim, value_of(start).to_int(), length);
}

std::vector<TensorRef> tensor_split_tensor(Tensor& self, Tensor& which, int64_t dim) {
  if (which.dtype() != DType::Int64)
    fail("tensor_split expected tensor_indices_or_sections to have dtype of long, but got ", which.dtype());
  if (which.dim() > 1)
    fail(
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got "
        "a tensor with ",
        which.dim(), " dims");
  if (which.is_meta()) fail("tensor_split(): indices on the meta device have no values");
  require_values(which);
  const std::vector<int64_t> cuts = integers_of(which);
  if (which.dim() == 0) return ops::tensor_split_sections(self, cuts[0], dim);
  return ops::tensor_split_indices(self, cuts, dim);
}

std::vector<TensorRef> _broadcast_tensors(TensorList tensors) {
  Dims sizes;
  for (Tensor* t : tensors) sizes = broadcast_sizes(sizes, t->sizes());
  std::vector<TensorRef> views;
  for (Tensor* t : tensors) views.push_back(ops::expand(*t, sizes, false));
  return views;
}

std::vector<TensorRef> hsplit_int(Tensor& self, int64_t sections) {
  return split_evenly(self, "hsplit", split_dim(self, "hsplit", 1, self.dim() == 1 ? 0 : 1), sections);
}
std::vector<TensorRef> hsplit_array(Tensor& self, IntList indices) {
  return ops::tensor_split_indices(self, indices, split_dim(self, "hsplit", 1, self.dim() == 1 ? 0 : 1));
}
std::vector<TensorRef> vsplit_int(Tensor& self, int64_t sections) {
  return split_evenly(self, "vsplit", split_dim(self, "vsplit", 2, 0), sections);
}
std::vector<TensorRef> vsplit_array(Tensor& self, IntList indices) {
  return ops::tensor_split_indices(self, indices, split_dim(self, "vsplit", 2, 0));
}
std::vector<TensorRef> dsplit_int(Tensor& self, int64_t sections) {
  return split_evenly(self, "dsplit", split_dim(self, "dsplit", 3, 2), sections);
}
std::vector<TensorRef> dsplit_array(Tensor& self, IntList indices) {
  return ops::tensor_split_indices(self, indices, split_dim(self, "dsplit", 3, 2));
}

}  // namespace vivace::composite

// Views that regroup or reinterpret: view, as_strided, view_as_real and so on.
#include "generated/kernels/view/regroup.h"
#include "runtime/dispatch/keys.h"
#include "runtime/kernels/view_shape.h"

namespace vivace::kernels {

Dims infer_sizes(IntList sizes, int64_t numel) {
  Dims out(sizes);
  int hole = -1;
  int64_t known = 1;
  bool fits = true;
  for (int i = 0; i < out.n; ++i) {
    if (out[i] == -1) {
      if (hole >= 0) fail("only one dimension can be inferred");
      hole = i;
    } else if (out[i] < 0) {
      fail("invalid shape dimension ", out[i], " at index ", i, " of shape ", sizes);
    } else {
      fits &= !__builtin_mul_overflow(known, out[i], &known) || out[i] == 0;
    }
  }
  if (!fits) fail("shape '", sizes, "' is invalid for input of size ", numel);
  if (hole < 0 ? known == numel : known > 0 && numel % known == 0) {
    if (hole >= 0) out[hole] = numel / known;
    return out;
  }
  if (hole >= 0 && known == 0 && numel == 0)
    fail("cannot reshape tensor of 0 elements into shape ", sizes,
         " because the unspecified dimension size -1 can be any value and is ambiguous");
  fail("shape '", sizes, "' is invalid for input of size ", numel);
}

bool view_strides(const Tensor& t, IntList sizes, Dims& strides) {
  const int n = int(sizes.size());
  if (t.numel() == 0 || t.is_contiguous()) {
    if (t.numel() == 0 && t.dim() == n && std::equal(sizes.begin(), sizes.end(), t.dims_)) {
      strides = Dims(t.strides());
      return true;
    }
    strides.n = n;
    int64_t step = 1;
    for (int d = n - 1; d >= 0; --d) {
      strides[d] = step;
      step = int64_t(uint64_t(step) * uint64_t(std::max<int64_t>(sizes[d], 1)));  // of no elements: may overflow
    }
    return true;
  }
  // Walk from the innermost dim: each stretch of old dims that one stride runs through has to be filled exactly by new
  // dims.
  strides.n = n;
  const IntList old_sizes = t.sizes(), old_strides = t.strides();
  int next = n - 1;
  int64_t step = old_strides.back(), in_line = 1, used = 1;
  for (int d = int(t.dim()) - 1; d >= 0; --d) {
    in_line *= old_sizes[d];
    if (d > 0 && (old_sizes[d - 1] == 1 || old_strides[d - 1] == in_line * step)) continue;
    while (next >= 0 && (used < in_line || sizes[next] == 1)) {
      strides[next] = used * step;
      used *= sizes[next--];
    }
    if (used != in_line) return false;
    if (d > 0) {
      step = old_strides[d - 1];
      in_line = used = 1;
    }
  }
  return next < 0;
}

TensorRef view(Tensor& self, IntList size) {
  const Dims sizes = infer_sizes(size, self.numel());
  Dims strides;
  if (!view_strides(self, sizes, strides)) {
    fail(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous "
        "subspaces). Use .reshape(...) instead.");
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

TensorRef alias(Tensor& self) { return make_view(self, self.sizes(), self.strides(), self.storage_offset()); }

TensorRef detach(Tensor& self) {
  TensorRef t = vivace::alias(self);
  t->keys |= self.keys & bit(Key::Watched);  // what is written by way of the alias is noted too
  return t;
}

TensorRef as_strided(Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  if (size.size() != stride.size()) fail("mismatch in length of strides and shape");
  int64_t last = storage_offset.value_or(self.storage_offset());
  if (last < 0) fail("as_strided: storage_offset must be non-negative, got ", last);
  const int64_t first = last;
  bool any = true;
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] < 0) fail("as_strided: size must be non-negative, got ", size);
    if (stride[d] < 0) fail("as_strided: Negative strides are not supported at the moment, got strides: ", stride);
    any &= size[d] != 0;
    int64_t extent;
    if (__builtin_mul_overflow(size[d] - 1, stride[d], &extent) || __builtin_add_overflow(last, extent, &last))
      fail("as_strided: size ", size, ", stride ", stride, " and storage_offset ", first, " overflow");
  }
  const int64_t room = int64_t(self.storage_->nbytes / self.item_size());
  if (!any) last = first - 1;
  int64_t bytes;
  if (__builtin_add_overflow(last, 1, &bytes) || __builtin_mul_overflow(bytes, self.item_size(), &bytes))
    fail("as_strided: size ", size, ", stride ", stride, " and storage_offset ", first, " overflow");
  if (last >= room && !self.is_meta()) {
    fail("setStorage: sizes ", size, ", strides ", stride, ", storage offset ", first, ", and itemsize ",
         self.item_size(), " requiring a storage size of ", bytes, " are out of bounds for storage of size ",
         self.storage_->nbytes);
  }
  return make_view(self, size, stride, first);
}

void as_strided_(Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  const TensorRef view = as_strided(self, size, stride, storage_offset);
  set_layout(self, size, stride, view->storage_offset());
}

TensorRef view_as_real(Tensor& self) {
  if (!is_complex(self.dtype())) fail("view_as_real is only supported for complex tensors");
  Dims sizes(self.sizes()), strides(self.strides());
  for (int64_t& s : strides) s *= 2;
  sizes.push(2);
  strides.push(1);
  return make_view(self, sizes, strides, self.storage_offset() * 2, real_of(self.dtype()));
}

TensorRef view_as_complex(Tensor& self) {
  if (self.dtype() != DType::Float32 && self.dtype() != DType::Float64)
    fail("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ",
         self.dtype());
  if (self.dim() == 0) fail("Input tensor must have one or more dimensions");
  if (self.size(-1) != 2) fail("Tensor must have a last dimension of size 2");
  if (self.stride(-1) != 1) fail("Tensor must have a last dimension with stride 1");
  Dims sizes(self.sizes()), strides(self.strides());
  --sizes.n;
  --strides.n;
  for (int64_t& s : strides) {
    if (s % 2) fail("Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  if (self.storage_offset() % 2) fail("Tensor must have a storage_offset divisible by 2");
  return make_view(self, sizes, strides, self.storage_offset() / 2, complex_of(self.dtype()));
}

TensorRef view_dtype(Tensor& self, DType dtype) {
  const int64_t from = int64_t(self.item_size()), to = int64_t(item_size(dtype));
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  if (from > to) {
    if (self.dim() == 0)
      fail("self.dim() cannot be 0 to view ", self.dtype(), " as ", dtype, " (different element sizes)");
    if (self.stride(-1) != 1)
      fail("self.stride(-1) must be 1 to view ", self.dtype(), " as ", dtype, " (different element sizes), but got ",
           self.stride(-1));
    const int64_t ratio = from / to;
    for (int64_t& s : strides) s *= ratio;
    strides[strides.n - 1] = 1;
    sizes[sizes.n - 1] *= ratio;
    offset *= ratio;
  } else if (from < to) {
    if (self.dim() == 0)
      fail("self.dim() cannot be 0 to view ", self.dtype(), " as ", dtype, " (different element sizes)");
    if (self.stride(-1) != 1)
      fail("self.stride(-1) must be 1 to view ", self.dtype(), " as ", dtype, " (different element sizes), but got ",
           self.stride(-1));
    const int64_t ratio = to / from;
    if (self.size(-1) % ratio)
      fail("self.size(-1) must be divisible by ", ratio, " to view ", self.dtype(), " as ", dtype,
           " (different element sizes), but got ", self.size(-1));
    if (offset % ratio)
      fail("self.storage_offset() must be divisible by ", ratio, " to view ", self.dtype(), " as ", dtype,
           " (different element sizes), but got ", offset);
    for (int d = 0; d + 1 < strides.n; ++d) {
      if (strides[d] % ratio)
        fail("self.stride(", d, ") must be divisible by ", ratio, " to view ", self.dtype(), " as ", dtype,
             " (different element sizes), but got ", strides[d]);
      strides[d] /= ratio;
    }
    sizes[sizes.n - 1] /= ratio;
    offset /= ratio;
  }
  return make_view(self, sizes, strides, offset, dtype);
}

}  // namespace vivace::kernels

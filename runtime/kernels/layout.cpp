// Strides of the memory formats, and which format a tensor has.
#include <algorithm>

#include "runtime/kernels/layout.h"

#include "generated/kernels/factory/convert.h"
#include "runtime/core/overlap.h"
#include "runtime/kernels/checks.h"
#include "runtime/kernels/read_scalar.h"

namespace vivace {
namespace kernels {

Dims format_strides(IntList sizes, MemoryFormat format) {
  const int n = int(sizes.size());
  if (format == MemoryFormat::Contiguous) return contiguous_strides(sizes);
  const int want = format == MemoryFormat::ChannelsLast ? 4 : 5;
  if (n != want) fail("required rank ", want, " tensor to use channels_last", want == 5 ? "_3d" : "", " format");
  Dims strides;
  strides.n = n;
  strides[1] = 1;  // channels, then the last dim outwards, then the batch
  int64_t step = std::max<int64_t>(sizes[1], 1);
  for (int d = n - 1; d >= 2; --d) {
    strides[d] = step;
    step = int64_t(uint64_t(step) * uint64_t(std::max<int64_t>(sizes[d], 1)));  // of no elements: may overflow
  }
  strides[0] = step;
  return strides;
}

MemoryFormat format_of(const Tensor& t) {
  const int n = t.ndim_;
  if ((n != 4 && n != 5) || t.strides()[1] == 0) return MemoryFormat::Contiguous;
  int64_t least = 0;
  for (int k = 0; k < n; ++k) {  // channels, then the last dim outwards, then the batch
    const int d = k == 0 ? 1 : k == n - 1 ? 0 : n - k;
    const int64_t size = t.sizes()[size_t(d)], stride = t.strides()[size_t(d)];
    // With one channel and one pixel, or no elements, every order is the same.
    if (size == 0 || stride < least || (d == 0 && least == t.strides()[1])) return MemoryFormat::Contiguous;
    least = size > 1 ? stride * size : stride;
  }
  return n == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

TensorRef empty_images(IntList sizes, DType dtype, Device device, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return vivace::empty(sizes, dtype, device);
  return vivace::empty_strided(sizes, format_strides(sizes, format), dtype, device);
}

TensorRef dense_images(Tensor& t, DType dtype, MemoryFormat format) {
  if (t.dtype() == dtype && t.is_contiguous(format)) return TensorRef::share(&t);
  TensorRef dense = empty_images(t.sizes(), dtype, t.device(), format);
  copy_into(*dense, t);
  return dense;
}

TensorRef place_for(Tensor& out, DType dtype, MemoryFormat format) {
  if (out.dtype() == dtype && out.is_contiguous(format)) return TensorRef::share(&out);
  return empty_images(out.sizes(), dtype, out.device(), format);
}

TensorRef empty_in_format(const Tensor& t, DType dtype, Device device, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return vivace::empty(t.sizes(), dtype, device);
  if (format == MemoryFormat::Preserve) {
    if (device == t.device()) return vivace::empty_like(t, dtype);
    if (t.is_non_overlapping_and_dense()) return vivace::empty_strided(t.sizes(), t.strides(), dtype, device);
    return vivace::empty(t.sizes(), dtype, device);
  }
  return vivace::empty_strided(t.sizes(), format_strides(t.sizes(), format), dtype, device);
}

namespace {
void warn_of_lost_part(DType to, DType from) {
  if (is_complex(from) && !is_complex(to) && !is_bool(to)) [[unlikely]]
    warn("Casting complex values to real discards the imaginary part");
}
}  // namespace

TensorRef _to_copy(Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                   std::optional<MemoryFormat> memory_format) {
  const Device to = device.value_or(self.device());
  if (self.is_meta() && to.type != DeviceType::Meta) fail_not_implemented("Cannot copy out of meta tensor; no data!");
  warn_of_lost_part(dtype.value_or(self.dtype()), self.dtype());
  TensorRef out =
      empty_in_format(self, dtype.value_or(self.dtype()), to, memory_format.value_or(MemoryFormat::Preserve));
  copy_into(*out, self);
  return out;
}

void clone(Tensor& self, std::optional<MemoryFormat>, Tensor& out) { copy_into(out, self); }

void copy_(Tensor& self, Tensor& src, bool) {
  if (src.is_meta() && !self.is_meta()) fail_not_implemented("Cannot copy out of meta tensor; no data!");
  broadcastable_to(src.sizes(), self.sizes());
  check_no_internal_overlap(self);
  warn_of_lost_part(self.dtype(), src.dtype());
  check_no_partial_overlap(self, src);
  if (self.storage_ == src.storage_ && src.numel() > 0 && self.raw() != src.raw())
    return copy_into(self, *clone_of(src));
  copy_into(self, src);
}

void fill__Scalar(Tensor& self, const Scalar& value) { fill_into(self, value); }
void fill__Tensor(Tensor& self, Tensor& value) {
  if (value.dim() != 0)
    fail("fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
  copy_into(self, value);
}
void resize_(Tensor& self, IntList size, std::optional<MemoryFormat> memory_format) {
  for (int64_t s : size)
    if (s < 0) fail("Trying to create tensor with negative dimension ", s, ": ", size);
  if (self.requires_grad()) fail("cannot resize variables that require grad");
  if (!std::ranges::equal(size, self.sizes())) resize_into(self, size);
  if (memory_format && *memory_format != MemoryFormat::Contiguous && *memory_format != MemoryFormat::Preserve)
    set_layout(self, size, format_strides(size, *memory_format), self.storage_offset());
}
void resize_as_(Tensor& self, Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  resize_(self, the_template.sizes(), memory_format);
}

void zero_(Tensor& self) { fill_into(self, 0); }

void fill_Scalar(Tensor&, const Scalar& value, Tensor& out) { fill_into(out, value); }
void fill_Tensor(Tensor&, Tensor& value, Tensor& out) { fill__Tensor(out, value); }

Scalar local_scalar(Tensor& self) {
  if (self.numel() != 1) fail("a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
  return read_scalar(self);
}

}  // namespace kernels

namespace meta {

TensorRef clone(Tensor& self, std::optional<MemoryFormat> memory_format) {
  return kernels::empty_in_format(self, self.dtype(), self.device(), memory_format.value_or(MemoryFormat::Preserve));
}
TensorRef fill_Scalar(Tensor& self, const Scalar&) { return empty_like(self); }
TensorRef fill_Tensor(Tensor& self, Tensor& value) {
  if (value.dim() != 0)
    fail("fill only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
  return empty_like(self);
}

}  // namespace meta
}  // namespace vivace

// Tensors from nothing but sizes and numbers. These kernels serve every device: fill_into leaves meta tensors alone.
#include "generated/kernels/factory/fresh.h"
#include "runtime/core/promote.h"
#include "runtime/kernels/layout.h"

namespace vivace::kernels {
namespace {

using Dtype = std::optional<DType>;
using Place = std::optional<Device>;

TensorRef blank(IntList size, Dtype dtype, Place device) {
  return vivace::empty(size, dtype.value_or(default_dtype), device.value_or(Device{}));
}
TensorRef blank_like(Tensor& self, Dtype dtype, Place device, std::optional<MemoryFormat> format) {
  return empty_in_format(self, dtype.value_or(self.dtype()), device.value_or(self.device()),
                         format.value_or(MemoryFormat::Preserve));
}
TensorRef blank_new(Tensor& self, IntList size, Dtype dtype, Place device) {
  return vivace::empty(size, dtype.value_or(self.dtype()), device.value_or(self.device()));
}
TensorRef filled(TensorRef t, const Scalar& value) {
  fill_into(*t, value);
  return t;
}
DType dtype_of_fill(const Scalar& value) {
  if (value.is_bool()) return DType::Bool;
  if (value.is_integral()) return DType::Int64;
  return value.is_complex() ? complex_of(default_dtype) : default_dtype;
}

}  // namespace

TensorRef empty(IntList size, Dtype dtype, Place device, std::optional<MemoryFormat> memory_format) {
  TensorRef t = blank(size, dtype, device);
  if (!memory_format || *memory_format == MemoryFormat::Contiguous) [[likely]]
    return t;
  if (*memory_format == MemoryFormat::Preserve) fail("unsupported memory format option Preserve");
  return empty_in_format(*t, t->dtype(), t->device(), *memory_format);
}
TensorRef zeros(IntList size, Dtype dtype, Place device) { return filled(blank(size, dtype, device), 0); }
TensorRef ones(IntList size, Dtype dtype, Place device) { return filled(blank(size, dtype, device), 1); }
TensorRef full(IntList size, const Scalar& fill_value, Dtype dtype, Place device) {
  return filled(blank(size, dtype ? dtype : dtype_of_fill(fill_value), device), fill_value);
}
TensorRef scalar_tensor(const Scalar& s, Dtype dtype, Place device) { return filled(blank({}, dtype, device), s); }

TensorRef empty_strided(IntList size, IntList stride, Dtype dtype, Place device) {
  if (size.size() != stride.size())
    fail("mismatch in length of strides and shape: empty_strided got size ", size, " and stride ", stride);
  for (int64_t s : stride)
    if (s < 0) fail("empty_strided: negative strides are not supported, got ", stride);
  return vivace::empty_strided(size, stride, dtype.value_or(default_dtype), device.value_or(Device{}));
}
TensorRef empty_permuted(IntList size, IntList physical_layout, Dtype dtype, Place device) {
  const int n = int(size.size());
  if (physical_layout.size() != size.size())
    fail("Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", n,
         " is not equal to len(physical_layout) = ", physical_layout.size());
  Dims strides;
  strides.n = n;
  uint64_t seen = 0;
  int64_t step = 1;
  for (int i = n - 1; i >= 0; --i) {
    const int64_t d = physical_layout[i];
    if (d < 0 || d >= n)
      fail("Dimension out of range (expected to be between 0 and ", n - 1, ", but got ", d, " at index ", i, ")");
    if (seen >> d & 1) fail("Duplicate dim not allowed");
    seen |= uint64_t(1) << d;
    strides[int(d)] = step;
    step *= std::max<int64_t>(size[d], 1);
  }
  return vivace::empty_strided(size, strides, dtype.value_or(default_dtype), device.value_or(Device{}));
}

TensorRef empty_like(Tensor& self, Dtype dtype, Place device, std::optional<MemoryFormat> format) {
  return blank_like(self, dtype, device, format);
}
TensorRef zeros_like(Tensor& self, Dtype dtype, Place device, std::optional<MemoryFormat> format) {
  return filled(blank_like(self, dtype, device, format), 0);
}
TensorRef ones_like(Tensor& self, Dtype dtype, Place device, std::optional<MemoryFormat> format) {
  return filled(blank_like(self, dtype, device, format), 1);
}
TensorRef full_like(Tensor& self, const Scalar& fill_value, Dtype dtype, Place device,
                    std::optional<MemoryFormat> format) {
  return filled(blank_like(self, dtype, device, format), fill_value);
}

TensorRef new_empty(Tensor& self, IntList size, Dtype dtype, Place device) {
  return blank_new(self, size, dtype, device);
}
TensorRef new_empty_strided(Tensor& self, IntList size, IntList stride, Dtype dtype, Place device) {
  return empty_strided(size, stride, dtype.value_or(self.dtype()), device.value_or(self.device()));
}
TensorRef new_zeros(Tensor& self, IntList size, Dtype dtype, Place device) {
  return filled(blank_new(self, size, dtype, device), 0);
}
TensorRef new_ones(Tensor& self, IntList size, Dtype dtype, Place device) {
  return filled(blank_new(self, size, dtype, device), 1);
}
TensorRef new_full(Tensor& self, IntList size, const Scalar& fill_value, Dtype dtype, Place device) {
  return filled(blank_new(self, size, dtype, device), fill_value);
}

}  // namespace vivace::kernels

// Conversions that give the tensor itself back where there is nothing to convert.
#include "generated/kernels/factory/convert.h"
#include "generated/ops/factory/convert.h"
#include "runtime/kernels/layout.h"

namespace vivace::composite {
namespace {

using Format = std::optional<MemoryFormat>;

TensorRef converted(Tensor& self, DType dtype, Device device, bool copy, Format format) {
  const bool same_place = device == self.device();
  bool same_format = !format || *format == MemoryFormat::Preserve;
  if (!same_format)  // strides that more than one format could have are those of contiguous tensors
    same_format = *format == MemoryFormat::Contiguous ? self.is_contiguous() : kernels::format_of(self) == *format;
  if (!copy && same_place && dtype == self.dtype() && same_format) return TensorRef::share(&self);
  return ops::_to_copy(self, dtype, device, format);
}

TensorRef cast(Tensor& self, DType dtype, Format format) {
  return converted(self, dtype, self.device(), false, format);
}

}  // namespace

TensorRef to_dtype(Tensor& self, DType dtype, bool, bool copy, Format memory_format) {
  return converted(self, dtype, self.device(), copy, memory_format);
}
TensorRef to_device(Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool, bool copy,
                    Format memory_format) {
  return converted(self, dtype.value_or(self.dtype()), device.value_or(self.device()), copy, memory_format);
}
TensorRef to_other(Tensor& self, Tensor& other, bool, bool copy, Format memory_format) {
  return converted(self, other.dtype(), other.device(), copy, memory_format);
}
TensorRef type_as(Tensor& self, Tensor& other) { return converted(self, other.dtype(), other.device(), false, {}); }
TensorRef cpu(Tensor& self, Format memory_format) {
  return converted(self, self.dtype(), Device{}, false, memory_format);
}

TensorRef cast_float(Tensor& self, Format format) { return cast(self, DType::Float32, format); }
TensorRef cast_double(Tensor& self, Format format) { return cast(self, DType::Float64, format); }
TensorRef cast_half(Tensor& self, Format format) { return cast(self, DType::Float16, format); }
TensorRef cast_bfloat16(Tensor& self, Format format) { return cast(self, DType::BFloat16, format); }
TensorRef cast_int(Tensor& self, Format format) { return cast(self, DType::Int32, format); }
TensorRef cast_long(Tensor& self, Format format) { return cast(self, DType::Int64, format); }
TensorRef cast_short(Tensor& self, Format format) { return cast(self, DType::Int16, format); }
TensorRef cast_char(Tensor& self, Format format) { return cast(self, DType::Int8, format); }
TensorRef cast_byte(Tensor& self, Format format) { return cast(self, DType::UInt8, format); }
TensorRef cast_bool(Tensor& self, Format format) { return cast(self, DType::Bool, format); }
TensorRef cast_cfloat(Tensor& self, Format format) { return cast(self, DType::Complex64, format); }
TensorRef cast_cdouble(Tensor& self, Format format) { return cast(self, DType::Complex128, format); }

TensorRef contiguous(Tensor& self, MemoryFormat memory_format) {
  if (memory_format == MemoryFormat::Preserve) fail("preserve memory format is unsupported by the contiguous operator");
  if (self.is_contiguous(memory_format)) return TensorRef::share(&self);
  return ops::clone(self, memory_format);
}

}  // namespace vivace::composite

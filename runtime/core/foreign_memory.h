// Memory of a private backend: core can neither make nor read it, and asks whoever fills these pointers. Kernels that
// touch memory only by core's helpers (empty, copy_into, fill_into, views) thereby serve such a backend, too.
#pragma once
#include <string>

#include "runtime/core/tensor.h"

namespace vivace {

struct ForeignMemory {
  TensorRef (*make)(IntList sizes, IntList strides, DType dtype, Device device);
  void (*copy)(Tensor& dst, const Tensor& src);
  void (*fill)(Tensor& t, const Scalar& value);
  void (*show)(const Tensor& t, Tensor& view);  // `view` is new: it looks into t's storage
  void (*relayout)(Tensor& t);                  // before t itself gets other sizes
  void (*resize)(Storage& s, size_t nbytes);
};
/// Filled before the first such tensor is made.
extern ForeignMemory foreign_memory;

/// A new tensor over a storage, which it takes over; its first element is the storage's.
TensorRef over_storage(IntList sizes, IntList strides, DType dtype, Device device, Storage* owned);

/// make_view() and alias() without `show`.
TensorRef bare_view(Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype);
TensorRef bare_alias(const Tensor& t);

/// Bytes from the first element to the last one reached.
size_t reached_bytes(IntList sizes, IntList strides, DType dtype);

/// The name of DeviceType::PrivateUse; the string has to last.
void set_backend_name(const char* text);
/// "cpu", "npy:0".
std::string text_of(Device device);

}  // namespace vivace

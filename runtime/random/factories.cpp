// Operators that make random tensors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "generated/kernels/random/distributions.h"
#include "runtime/random/fill.h"
#include "runtime/random/generator.h"
#include "runtime/random/order.h"

namespace vivace::kernels {

using namespace random;

namespace {

TensorRef make(IntList size, std::optional<DType> dtype, std::optional<Device> device) {
  return empty(size, dtype.value_or(default_dtype), device.value_or(Device{}));
}

TensorRef make_like(const Tensor& t, std::optional<DType> dtype, std::optional<Device> device,
                    std::optional<MemoryFormat> format) {
  const DType d = dtype.value_or(t.dtype());
  const Device place = device.value_or(t.device());
  if (format == MemoryFormat::Contiguous) return empty(t.sizes(), d, place);
  const TensorRef pattern = empty_like(t, d);
  return place == pattern->device() ? pattern : empty_strided(t.sizes(), pattern->strides(), d, place);
}

}  // namespace

TensorRef rand(IntList size, Object* generator, std::optional<DType> dtype, std::optional<Device> device) {
  TensorRef out = make(size, dtype, device);
  uniform_(*out, 0, 1, generator);
  return out;
}

TensorRef randn(IntList size, Object* generator, std::optional<DType> dtype, std::optional<Device> device) {
  TensorRef out = make(size, dtype, device);
  normal_(*out, 0, 1, generator);
  return out;
}

TensorRef randint_low(int64_t low, int64_t high, IntList size, Object* generator, std::optional<DType> dtype,
                      std::optional<Device> device) {
  TensorRef out = make(size, dtype.value_or(DType::Int64), device);
  random_from(*out, low, high, generator);
  return out;
}

TensorRef randint(int64_t high, IntList size, Object* generator, std::optional<DType> dtype,
                  std::optional<Device> device) {
  return randint_low(0, high, size, generator, dtype, device);
}

TensorRef randperm(int64_t n, Object* generator, std::optional<DType> dtype, std::optional<Device> device) {
  if (n < 0) fail("randperm: n must be non-negative, got ", n);
  TensorRef out = empty({n}, dtype.value_or(DType::Int64), device.value_or(Device{}));
  const DType d = out->dtype();
  if (is_complex(d) || is_bool(d) || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64)
    fail_not_implemented("\"randperm\" not implemented for '", d, "'");
  if (n > 0 && uint64_t(n - 1) > last_exact(d)) fail("randperm: ", n, " numbers do not fit into ", d);
  if (out->is_meta()) return out;
  if (d == DType::Int64) {
    permutation(stream_of(generator), out->data<int64_t>(), n);
    return out;
  }
  const TensorRef wide = empty({n}, DType::Int64);
  permutation(stream_of(generator), wide->data<int64_t>(), n);
  copy_into(*out, *wide);
  return out;
}

TensorRef rand_like(Tensor& self, Object* generator, std::optional<DType> dtype, std::optional<Device> device,
                    std::optional<MemoryFormat> memory_format) {
  TensorRef out = make_like(self, dtype, device, memory_format);
  uniform_(*out, 0, 1, generator);
  return out;
}

TensorRef randn_like(Tensor& self, Object* generator, std::optional<DType> dtype, std::optional<Device> device,
                     std::optional<MemoryFormat> memory_format) {
  TensorRef out = make_like(self, dtype, device, memory_format);
  normal_(*out, 0, 1, generator);
  return out;
}

TensorRef randint_like_low(Tensor& self, int64_t low, int64_t high, Object* generator, std::optional<DType> dtype,
                           std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  TensorRef out = make_like(self, dtype, device, memory_format);
  random_from(*out, low, high, generator);
  return out;
}

TensorRef randint_like(Tensor& self, int64_t high, Object* generator, std::optional<DType> dtype,
                       std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  return randint_like_low(self, 0, high, generator, dtype, device, memory_format);
}

TensorRef normal_numbers(double mean, double std, IntList size, Object* generator, std::optional<DType> dtype,
                         std::optional<Device> device) {
  TensorRef out = make(size, dtype, device);
  normal_(*out, mean, std, generator);
  return out;
}

}  // namespace vivace::kernels

// Sorting of lines, and the order in which it puts elements.
#pragma once
#include <bit>

#include "runtime/core/tensor.h"
#include "runtime/kernels/convert.h"

namespace vivace::kernels {

/// Sorts contiguous lines of n elements; equals keep their order, NaN is the largest. `indices` gets their former
/// places.
void sort_lines(DType dtype, const char* from, char* values, int64_t* indices, int64_t lines, int64_t n,
                bool descending);
/// `t` (an alias of it) with `dim` moved to the end, and how to undo that.
TensorRef with_dim_last(const Tensor& t, int64_t dim);

/// An unsigned integer that orders as the value does; NaN is the largest. Without branches: loops of it become vectors.
template <class T>
auto order_key(T x) {
  if constexpr (std::is_same_v<T, bool> || (std::is_integral_v<T> && std::is_unsigned_v<T>)) {
    if constexpr (sizeof(T) == 8)
      return uint64_t(x);
    else
      return uint32_t(x);
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 8)
      return uint64_t(x) ^ (uint64_t(1) << 63);
    else
      return uint32_t(int32_t(x)) ^ 0x80000000u;
  } else if constexpr (std::is_same_v<T, double>) {
    const uint64_t b = std::bit_cast<uint64_t>(x + 0.0);  // -0 counts as 0
    const uint64_t key = b ^ (uint64_t(int64_t(b) >> 63) | (uint64_t(1) << 63));
    return x != x ? ~uint64_t(0) : key;
  } else {
    const float f = load(x) + 0.0f;
    const uint32_t b = std::bit_cast<uint32_t>(f);
    const uint32_t key = b ^ (uint32_t(int32_t(b) >> 31) | 0x80000000u);
    return f != f ? ~uint32_t(0) : key;
  }
}

/// NaN is the largest.
template <class T>
bool less(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace vivace::kernels

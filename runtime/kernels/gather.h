// Bounds of index values, shared by the kernels that read or write through indices.
#pragma once
#include "runtime/core/tensor.h"
#include "runtime/kernels/move_loops.h"

namespace vivace::kernels {

/// Wraps an index that may be negative (`wraps`) and throws IndexError if it is out of bounds.
inline int64_t checked_index(int64_t index, int64_t size, bool wraps, const char* op) {
  const int64_t at = wraps && index < 0 ? index + size : index;
  if (uint64_t(at) >= uint64_t(size)) [[unlikely]]
    fail_index(op, ": index ", index, " is out of bounds for dimension with size ", size);
  return at;
}

/// Throws IndexError unless all n indices lie in [0, size).
inline void check_indices(const int64_t* index, int64_t n, int64_t size, const char* op) {
  if (move_loops().all_below(index, n, size)) [[likely]]
    return;
  for (int64_t i = 0; i < n; ++i) checked_index(index[i], size, false, op);
}

}  // namespace vivace::kernels

// Sorting of lines.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Sorts contiguous lines of n elements; equals keep their order, NaN is the largest. `indices` gets their former
/// places.
void sort_lines(DType dtype, const char* from, char* values, int64_t* indices, int64_t lines, int64_t n,
                bool descending);
/// `t` (an alias of it) with `dim` moved to the end, and how to undo that.
TensorRef with_dim_last(const Tensor& t, int64_t dim);

}  // namespace vivace::kernels

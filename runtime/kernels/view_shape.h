// Arithmetic of view shapes, shared by view, reshape, flatten and their relatives.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Replaces a -1 by what is left over; throws PyTorch's sentences if `sizes` cannot hold `numel` elements.
Dims infer_sizes(IntList sizes, int64_t numel);
/// Strides that show t in new sizes of the same count without moving anything; false if there are none.
bool view_strides(const Tensor& t, IntList sizes, Dims& strides);

}  // namespace vivace::kernels

// Derivatives of views that more than generated code calls.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::formulas {

/// The gradient of a tensor of the base geometry from that of as_strided(base, sizes, strides, offset); elements that
/// the view shows several times add up. Offsets count from the start of the storage.
TensorRef as_strided_backward(Tensor& g, IntList base_sizes, IntList base_strides, int64_t base_offset, IntList sizes,
                              IntList strides, int64_t offset);

}  // namespace vivace::formulas

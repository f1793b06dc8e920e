// Memory formats: which strides a fresh tensor gets.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Row-major strides of `sizes` in the order that a memory format has (not Preserve). Throws if the dims don't fit the
/// format.
Dims format_strides(IntList sizes, MemoryFormat format);
/// Uninitialised, with t's sizes; Preserve keeps t's layout as empty_like does.
TensorRef empty_in_format(const Tensor& t, DType dtype, Device device, MemoryFormat format);

}  // namespace vivace::kernels

// Moving elements: copy with broadcasting and conversion, and fill. The core's copy_into and fill_into end here.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// dst[...] = src, broadcast and converted. The operands must not overlap in part (the same layout is fine).
void copy_strided(Tensor& dst, const Tensor& src);
/// dst[...] = value.
void fill_strided(Tensor& dst, const Scalar& value);
/// n elements from one contiguous block to another.
void convert_block(DType to, char* dst, DType from, const char* src, int64_t n);
/// n elements, steps in bytes.
void convert_run(DType to, char* dst, int64_t dst_step, DType from, const char* src, int64_t src_step, int64_t n);
/// Throws PyTorch's sentence if a number is out of the range of `dtype`.
void check_fits(const Scalar& value, DType dtype);
/// One number as an element of `dtype`, checked.
void store_scalar(DType dtype, char* dst, const Scalar& value);
/// The same for operands of arithmetic, where integers wrap around.
void store_wrapped(DType dtype, char* dst, const Scalar& value);

}  // namespace vivace::kernels

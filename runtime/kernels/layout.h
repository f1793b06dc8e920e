// Memory formats: which strides a fresh tensor gets.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Row-major strides of `sizes` in the order that a memory format has (not Preserve). Throws if the dims don't fit the
/// format.
Dims format_strides(IntList sizes, MemoryFormat format);
/// ChannelsLast or ChannelsLast3d if t's strides say so, and don't say Contiguous as well; else Contiguous.
MemoryFormat format_of(const Tensor& t);
/// Uninitialised, in the memory format of the images that a result is computed from.
TensorRef empty_images(IntList sizes, DType dtype, Device device, MemoryFormat format);
/// `t` without gaps in `format`, in `dtype`: t itself where it is so already.
TensorRef dense_images(Tensor& t, DType dtype, MemoryFormat format);
/// Where a result without gaps in `format` and `dtype` is written that goes to `out`: out itself, or a tensor that
/// copy_into brings there.
TensorRef place_for(Tensor& out, DType dtype, MemoryFormat format);
/// Uninitialised, with t's sizes; Preserve keeps t's layout as empty_like does.
TensorRef empty_in_format(const Tensor& t, DType dtype, Device device, MemoryFormat format);

}  // namespace vivace::kernels

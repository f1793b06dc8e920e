// Depthwise convolution of images in a channels-last format, a row of channels at once.
#pragma once
#include "runtime/kernels/conv_sums.h"

namespace vivace::kernels {

/// Returns false, with nothing done, where the convolution is another or its result has another layout.
bool depthwise_of_channels(const Geometry& g, Tensor& input, Tensor& weight, Tensor* bias, Tensor& out);

}  // namespace vivace::kernels

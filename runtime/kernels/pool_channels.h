// Pools of images in a channels-last format, a row of channels at once. Each returns false, with nothing done, where
// its result has another layout.
#pragma once
#include "runtime/core/tensor.h"
#include "runtime/kernels/pool_cells.h"

namespace vivace::kernels {

bool max_of_channels(Tensor& input, const Cells& cells, Tensor& out, Tensor& indices);
bool max_of_channels_backward(Tensor& grads, Tensor& indices, Tensor& out);
bool mean_of_channels(Tensor& input, const Cells& cells, const Mean& mean, Tensor& out);
bool mean_of_channels_backward(Tensor& grads, const Cells& cells, const Mean& mean, Tensor& out);

}  // namespace vivace::kernels

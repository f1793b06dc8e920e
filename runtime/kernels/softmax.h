// Gradients of softmax and log_softmax from the incoming gradient and the result.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

TensorRef softmax_grad(Tensor& g, Tensor& y, int64_t dim);
TensorRef log_softmax_grad(Tensor& g, Tensor& y, int64_t dim);

}  // namespace vivace::kernels

// What distances share with their derivatives.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// The gradient by x1 of _cdist_forward(x1, x2, p) = y, all with the same batch.
TensorRef cdist_grad(const Tensor& g, const Tensor& x1, const Tensor& x2, double p, const Tensor& y);

}  // namespace vivace::kernels

// Attention's gradients, computed block by block from the inputs.
#pragma once
#include <tuple>

#include "runtime/core/tensor.h"

namespace vivace::kernels {

std::tuple<TensorRef, TensorRef, TensorRef> attention_grad(Tensor& g, Tensor& query, Tensor& key, Tensor& value,
                                                           Tensor* mask, bool is_causal, double scale);

}  // namespace vivace::kernels

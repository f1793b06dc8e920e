// Gradient of embedding.
#pragma once
#include <optional>

#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Non-negative, or -1 for none.
int64_t wrap_padding_idx(std::optional<int64_t> padding_idx, int64_t rows);

/// The table's gradient; rows of `padding_idx` get none, and with scale_grad_by_freq each row is divided by its count.
TensorRef embedding_grad(Tensor& g, Tensor& indices, IntList sizes, int64_t padding_idx, bool scale_grad_by_freq);

}  // namespace vivace::kernels

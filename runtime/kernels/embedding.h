// Gradient of embedding.
#pragma once
#include <optional>

#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Non-negative, or -1 for none.
int64_t wrap_padding_idx(std::optional<int64_t> padding_idx, int64_t rows);

/// What the gradient of each look-up is multiplied with, as a column: 0 for padding_idx, 1 / count of the row if
/// by_frequency.
TensorRef embedding_shares(Tensor& indices, int64_t rows, int64_t padding_idx, bool by_frequency, DType dtype);

/// The table's gradient; rows of `padding_idx` get none, and with scale_grad_by_freq each row is divided by its count.
TensorRef embedding_grad(Tensor& g, Tensor& indices, IntList sizes, int64_t padding_idx, bool scale_grad_by_freq);

}  // namespace vivace::kernels

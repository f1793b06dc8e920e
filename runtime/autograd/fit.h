// Gradients made to fit what they belong to.
#pragma once
#include <cstring>

#include "runtime/autograd/node.h"

namespace vivace {

/// Sums, casts and checks a gradient, which is the index-th that `from` (null: the caller) gave.
TensorRef fit(TensorRef grad, IntList sizes, DType dtype, const Node* from, uint32_t index);
/// The same, at once where it fits as it is.
inline TensorRef fitted(TensorRef grad, IntList sizes, DType dtype, const Node* from, uint32_t index) {
  const Tensor& g = *grad;
  if (g.ndim_ == sizes.size() && std::memcmp(g.dims_, sizes.data(), sizes.size_bytes()) == 0 && g.dtype() == dtype)
      [[likely]]
    return grad;
  return fit(std::move(grad), sizes, dtype, from, index);
}

}  // namespace vivace

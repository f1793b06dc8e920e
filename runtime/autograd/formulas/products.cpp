// Derivatives of products of vectors.
#include "generated/formulas/linalg/tensors.h"
#include "generated/ops/linalg/tensors.h"
#include "runtime/autograd/formulas/matrix.h"
#include "runtime/autograd/node.h"

namespace vivace::formulas {

std::tuple<TensorRef, TensorRef> cross_backward(Tensor& g, Tensor& self, Tensor& other, int64_t dim, Needs needs) {
  TensorRef a, b;
  if (wants(needs, 0)) a = ops::linalg_cross(*conj(other), g, dim);
  if (wants(needs, 1)) b = ops::linalg_cross(g, *conj(self), dim);
  return {std::move(a), std::move(b)};
}

}  // namespace vivace::formulas

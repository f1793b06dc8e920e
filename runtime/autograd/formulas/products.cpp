// Derivatives of the cross product and of the exponential of matrices.
#include "generated/formulas/linalg/exponential.h"
#include "generated/formulas/linalg/tensors.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/join.h"
#include "generated/ops/linalg/exponential.h"
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

TensorRef matrix_exp_backward(Tensor& g, Tensor& self) {
  // exp of [[A.mH, g], [0, A.mH]] has the derivative at A.mH in direction g in its upper right block.
  const int64_t n = self.size(-1);
  const Var A = adjoint(self), zero = ops::zeros_like(*A);
  const auto joined = [](const Var& a, const Var& b, int64_t dim) -> Var {
    Tensor* parts[] = {&*a, &*b};
    return ops::cat(TensorList(parts, 2), dim);
  };
  const Var whole = joined(joined(A, g, -1), joined(zero, A, -1), -2);
  return after(first(ops::linalg_matrix_exp(*whole), -2, n), -1, n);
}

}  // namespace vivace::formulas

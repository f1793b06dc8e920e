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

TensorRef cross_self_backward(Tensor& g, Tensor& other, int64_t dim) { return ops::linalg_cross(*conj(other), g, dim); }
TensorRef cross_other_backward(Tensor& g, Tensor& self, int64_t dim) { return ops::linalg_cross(g, *conj(self), dim); }

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

// Derivatives of products of reflectors and of least squares.
#include "generated/formulas/linalg/reflectors.h"
#include "generated/formulas/linalg/norms.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/index/join.h"
#include "generated/ops/linalg/norms.h"
#include "generated/ops/linalg/reflectors.h"
#include "runtime/autograd/formulas/matrix.h"
#include "runtime/autograd/node.h"

namespace vivace::formulas {
namespace {

[[noreturn]] void missing(const char* name) { fail("the derivative for '", name, "' is not implemented"); }

/// The gradients by reflectors and their factors, where that of their whole product Q is a @ b.mH. With V's unit lower
/// columns and S = triu(V.mH @ V, 1), Q = I - V @ W @ V.mH, W = inv(I + diag(tau) @ S) @ diag(tau).
std::tuple<TensorRef, TensorRef> reflector_gradients(const Var& a, const Var& b, Tensor& input, Tensor& tau) {
  const int64_t k = tau.size(-1);
  if (k == 0) return {ops::zeros_like(input), ops::zeros_like(tau)};
  const Var columns = first(input, -1, k);
  const Var unit = ops::eye_m(input.size(-2), k, input.dtype(), input.device());
  const Var V = tril(columns, -1) + unit, S = triu(mm(adjoint(V), V), 1), D = diagonal_matrix(tau);
  const Var one = ops::eye(k, input.dtype(), input.device());
  const Var L = one + mm(D, S), W = solve_upper(L, D, true);
  const Var aV = mm(adjoint(a), V), bV = mm(adjoint(b), V);
  const Var gW = -mm(adjoint(aV), bV);
  const Var gD = ops::linalg_solve_triangular(*adjoint(L), *gW, false, true, true);
  const Var gL = -mm(gD, adjoint(W));
  const Var gS = triu(mm(adjoint(D), gL), 1);
  const Var gV = mm(V, gS + adjoint(gS)) - mm(mm(a, bV), adjoint(W)) - mm(mm(b, aV), W);
  const Var gTau = diagonal_of(gD) + diagonal_of(mm(gL, adjoint(S)));
  const Var lower = tril(gV, -1);
  if (input.size(-1) == k) return {lower, gTau};
  Dims sizes(input.sizes());
  sizes[sizes.size() - 1] -= k;
  const TensorRef rest = ops::zeros(sizes, input.dtype(), input.device());
  Tensor* parts[] = {&*lower, &*rest};
  return {ops::cat(TensorList(parts, 2), -1), gTau};
}

}  // namespace

TensorRef geqrf_backward(Tensor&) { missing("geqrf"); }
TensorRef ldl_factor_backward(Tensor&) { missing("linalg_ldl_factor_ex"); }
std::tuple<TensorRef, TensorRef, TensorRef> ldl_solve_backward(Tensor&) { missing("linalg_ldl_solve"); }

std::tuple<TensorRef, TensorRef> householder_product_backward(Tensor& g, Tensor& input, Tensor& tau) {
  const Var unit = ops::eye_m(input.size(-2), input.size(-1), input.dtype(), input.device());
  return reflector_gradients(g, unit, input, tau);
}

std::tuple<TensorRef, TensorRef, TensorRef> ormqr_backward(Tensor& g, Tensor& input, Tensor& tau, Tensor& other,
                                                           bool left, bool transpose, Needs needs) {
  TensorRef reflectors, factors, c;
  if (wants(needs, 0) || wants(needs, 1)) {
    const Var a = left ? Var(g) : adjoint(other), b = left ? Var(other) : adjoint(g);
    std::tie(reflectors, factors) = reflector_gradients(transpose ? b : a, transpose ? a : b, input, tau);
  }
  if (wants(needs, 2)) c = ops::ormqr(input, tau, g, left, !transpose);
  return {std::move(reflectors), std::move(factors), std::move(c)};
}

std::tuple<TensorRef, TensorRef> lstsq_backward(Tensor& g, Tensor& A, Tensor& B, Needs needs) {
  // The solution is pinv(A) @ B.
  const Var inverse = ops::pinv(A);
  TensorRef a, b;
  if (wants(needs, 0)) a = pinv_backward(*mm(g, adjoint(B)), A, *inverse);
  if (wants(needs, 1)) b = mm(adjoint(inverse), g);
  return {std::move(a), std::move(b)};
}

}  // namespace vivace::formulas

// Derivatives of triangular factors, determinants and linear systems.
#include "generated/formulas/linalg/factor.h"
#include "generated/formulas/linalg/solve.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/join.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/reduce/truth.h"
#include "runtime/autograd/formulas/matrix.h"
#include "runtime/autograd/node.h"
#include "runtime/composite/value.h"

namespace vivace::formulas {
namespace {

Var inverse_adjoint(Tensor& A) { return adjoint(std::get<0>(ops::linalg_inv_ex(A, false))); }

/// Rows of t in the order of the permutation: out[i] = t[p[i]], or out[p[i]] = t[i] backwards.
Var permute_rows(const Var& t, Tensor& permutation, bool backwards) {
  Dims sizes((*t).sizes());
  const TensorRef index = ops::expand(*ops::unsqueeze(permutation, -1), sizes, false);
  if (!backwards) return ops::gather(*t, -2, *index);
  return ops::scatter_add(*ops::zeros(sizes, (*t).dtype(), (*t).device()), -2, *index, *t);
}

/// det(A) * inv(A).mH times g for an A that may be singular: the diagonal of its U is shifted away from 0.
Var adjugate_times(Tensor& g, Tensor& A) {
  const auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, true, false);
  const Var diagonal = ops::diagonal(*lu, 0, -2, -1);
  const double eps = real_of(A.dtype()) == DType::Float32 ? 1.1920929e-7 : 2.220446049250313e-16;
  const TensorRef zero = ops::eq_Scalar(*diagonal, Scalar(0));
  const Var shift = ops::mul_Scalar(*ops::to_dtype(*zero, A.dtype()), Scalar(eps));
  const Var regular = Var(*lu) + diagonal_matrix(shift);
  const Var product = ops::prod_dim_int(*(diagonal + shift), -1, false, std::nullopt);
  const TensorRef order = ops::pivots_to_permutation(*pivots, A.size(-1));
  // The sign is that of the permutation: the determinant of its matrix.
  const Var unit = diagonal_matrix(ops::ones_like(*diagonal));
  const Var sign = ops::linalg_det(*permute_rows(unit, *order, true));
  const TensorRef scale = ops::mul_Tensor(g, *conj(product * sign));
  return ops::linalg_lu_solve(*regular, *pivots,
                              *diagonal_matrix(ops::mul_Tensor(*column(scale), *ops::ones_like(*diagonal))), true);
}

}  // namespace

TensorRef det_backward(Tensor& g, Tensor& A, Tensor& y) {
  if (A.numel() == 0) return ops::zeros_like(A);
  if (A.is_meta() || (has_values(y) && !is_true(*ops::any(*ops::eq_Scalar(y, Scalar(0)))))) {
    const TensorRef scale = ops::mul_Tensor(g, *conj(y));
    return column(column(scale)) * inverse_adjoint(A);
  }
  return adjugate_times(g, A);
}

TensorRef slogdet_backward(Tensor& g0, Tensor& g1, Tensor& A, Tensor& y0) {
  if (!is_complex(A.dtype())) return column(column(g1)) * inverse_adjoint(A);
  // The phase turns with the imaginary part of the trace of inv(A) dA.
  const Var turn = conj(g0) * Var(y0);
  return column(column(Var(g1) - (turn - conj(turn)) * 0.5)) * inverse_adjoint(A);
}

TensorRef cholesky_backward(Tensor& g, Tensor& y, bool upper) {
  const Var L = upper ? adjoint(y) : Var(y), gL = upper ? adjoint(g) : Var(g);
  const Var product = mm(adjoint(L), gL);
  const Var phi = (tril(product) + adjoint(tril(product, -1))) * 0.5;
  return hermitian_part(lower_divides(solve_upper(adjoint(L), phi), L));
}

TensorRef lu_factor_backward(Tensor& g, Tensor& LU, Tensor& pivots) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  if (LU.numel() == 0) return ops::zeros_like(LU);
  const TensorRef permutation = ops::pivots_to_permutation(pivots, m);
  const Var square = first(first(LU, -2, k), -1, k), gSquare = first(first(g, -2, k), -1, k);
  const Var unit = diagonal_matrix(ops::ones_like(*diagonal_of(square)));
  const Var L = tril(square, -1) + unit, U = triu(square), gL = tril(gSquare, -1), gU = triu(gSquare);
  Var lower = mm(adjoint(L), gL), upper = mm(gU, adjoint(U));
  Tensor* parts[2];
  if (m < n) lower = lower - mm(after(g, -1, k), adjoint(after(LU, -1, k)));
  if (m > n) upper = upper - mm(adjoint(after(LU, -2, k)), after(g, -2, k));
  const Var core = tril(lower, -1) + triu(upper);
  const auto by_upper = [&](const Var& x) { return lower_divides(x, adjoint(U)); };
  const auto by_lower = [&](const Var& x) { return solve_upper(adjoint(L), x, true); };
  Var whole = by_lower(by_upper(core));
  if (m != n) {
    const Var rest = m < n ? by_lower(after(g, -1, k)) : by_upper(after(g, -2, k));
    parts[0] = &*whole;
    parts[1] = &*rest;
    whole = ops::cat(TensorList(parts, 2), m < n ? -1 : -2);
  }
  return permute_rows(whole, *permutation, true);
}

std::tuple<TensorRef, TensorRef> solve_backward(Tensor& g, Tensor& A, Tensor& y, Needs needs) {
  const Var gB = std::get<0>(ops::linalg_solve_ex(*adjoint(A), g, false));
  TensorRef gA;
  if (wants(needs, 0)) gA = -mm(gB, adjoint(y));
  return {std::move(gA), gB};
}

std::tuple<TensorRef, TensorRef> lu_solve_backward(Tensor& g, Tensor& LU, Tensor& pivots, Tensor& y, bool adjoint_,
                                                   Needs needs) {
  // A = P M with M = L U: the solution is inv(M) P.mT B, or P inv(M.mH) B.
  const Var gB = ops::linalg_lu_solve(LU, pivots, g, !adjoint_);
  TensorRef gLU;
  if (wants(needs, 0)) {
    const TensorRef permutation = ops::pivots_to_permutation(pivots, LU.size(-1));
    const Var gM = adjoint_ ? -mm(permute_rows(y, *permutation, false), adjoint(gB))
                            : -mm(permute_rows(gB, *permutation, false), adjoint(y));
    const Var unit = diagonal_matrix(ops::ones_like(*diagonal_of(LU)));
    gLU = tril(mm(gM, adjoint(triu(LU))), -1) + triu(mm(adjoint(tril(LU, -1) + unit), gM));
  }
  return {std::move(gLU), gB};
}

std::tuple<TensorRef, TensorRef> solve_triangular_backward(Tensor& g, Tensor& A, Tensor& y, bool upper, bool left,
                                                           bool unitriangular, Needs needs) {
  const Var gB = ops::linalg_solve_triangular(*adjoint(A), g, !upper, left, unitriangular);
  TensorRef gA;
  if (wants(needs, 0)) {
    const Var full = -(left ? mm(gB, adjoint(y)) : mm(adjoint(y), gB));
    const int64_t skip = unitriangular ? 1 : 0;
    gA = upper ? triu(full, skip) : tril(full, -skip);
  }
  return {std::move(gA), gB};
}

}  // namespace vivace::formulas

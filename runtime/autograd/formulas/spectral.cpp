// Derivatives of QR, singular values and eigenvalues. Vectors are determined up to a phase, which formulas ignore.
#include "generated/formulas/linalg/spectral.h"
#include "generated/formulas/linalg/norms.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/join.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "runtime/autograd/formulas/matrix.h"
#include "runtime/autograd/node.h"

namespace vivace::formulas {
namespace {

Var operator/(const Var& a, const Var& b) { return ops::div_Tensor(*a, *b); }

/// Differences v_j - v_i as matrices, 1 on the diagonal, whose elements are never used.
Var differences(const Var& v) {
  const Var d = row(v) - column(v);
  return d + diagonal_matrix(ops::ones_like(*v));
}
Var without_diagonal(const Var& a) { return a - diagonal_matrix(diagonal_of(a)); }
Var skew(const Var& a) { return a - adjoint(a); }

/// The derivative of QR for matrices that are not wider than high.
Var tall_qr_backward(const Var& gQ, const Var& gR, const Var& Q, const Var& R) {
  const Var m = mm(R, adjoint(triu(gR))) - mm(adjoint(gQ), Q);
  // The lower triangle, mirrored; the diagonal of what is Hermitian is real.
  const Var lower = tril(m, -1), diagonal = diagonal_of(m);
  const Var symmetric = lower + adjoint(lower) + diagonal_matrix((diagonal + conj(diagonal)) * 0.5);
  return lower_divides(gQ + mm(Q, symmetric), adjoint(R));
}

}  // namespace

TensorRef qr_backward(Tensor& g0, Tensor& g1, Tensor& A, Tensor& Q, Tensor& R, std::string_view mode) {
  const int64_t m = A.size(-2), n = A.size(-1);
  if (mode == "r")
    fail(
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
        "linalg.qr(A, mode='reduced') if you are going to require gradients through linalg.qr.");
  if (mode == "complete" && m > n)
    fail("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (m >= n) return tall_qr_backward(g0, g1, Q, R);
  // A = Q [U W]: what W adds to the gradient of Q, then the square part.
  const Var rest = after(g1, -1, m);
  const Var gQ = Var(g0) + mm(after(A, -1, m), adjoint(rest));
  const Var square = tall_qr_backward(gQ, first(g1, -1, m), Q, first(R, -1, m)), other = mm(Q, rest);
  Tensor* parts[] = {&*square, &*other};
  return ops::cat(TensorList(parts, 2), -1);
}

/// Of full matrices only the first vectors follow from A; the others are any basis of the rest.
TensorRef svd_backward(Tensor* gU, Tensor* gS, Tensor* gVh, Tensor& U_, Tensor& S, Tensor& Vh_) {
  const int64_t k = S.size(-1);
  const Var U = first(U_, -1, k), Vh = first(Vh_, -2, k);
  const bool more_rows = U_.size(-2) > k, more_columns = Vh_.size(-1) > k;
  const bool is_complex_ = is_complex(U_.dtype());
  if (!gU && !gVh) return mm(U * row(*gS), Vh);
  const Var E = differences(Var(S) * Var(S));
  const Var zero = ops::zeros_like(*mm(adjoint(U), U));
  const Var skew_u = gU ? skew(mm(adjoint(U), first(*gU, -1, k))) : zero;
  const Var skew_v = gVh ? skew(mm(Vh, adjoint(first(*gVh, -2, k)))) : zero;
  Var core = without_diagonal((skew_u / E) * row(S) + column(S) * (skew_v / E));
  if (gS) core = core + diagonal_matrix(*gS);
  if (is_complex_ && gU) core = core + diagonal_matrix(diagonal_of(skew_u) / (Var(S) * 2.0));
  Var result = mm(mm(U, core), Vh);
  if (gU && more_rows) {
    const Var scaled = first(*gU, -1, k) / row(S);
    result = result + mm(scaled - mm(U, mm(adjoint(U), scaled)), Vh);
  }
  if (gVh && more_columns) {
    const Var scaled = first(*gVh, -2, k) / column(S);
    result = result + mm(U, scaled - mm(mm(scaled, adjoint(Vh)), Vh));
  }
  return result;
}

TensorRef eigh_backward(Tensor* gL, Tensor* gV, Tensor& L, Tensor& V) {
  if (!gV) return mm(Var(V) * row(*gL), adjoint(V));
  Var core = without_diagonal(mm(adjoint(V), *gV) / differences(L));
  if (gL) core = core + diagonal_matrix(*gL);
  return hermitian_part(mm(mm(V, core), adjoint(V)));
}

TensorRef eig_backward(Tensor* gL, Tensor* gV, Tensor& L, Tensor& V, DType dtype) {
  const auto through = [&](const Var& core) {
    const Var product = mm(core, adjoint(V));
    const Var whole = std::get<0>(ops::linalg_solve_ex(*adjoint(V), *product, false));
    return is_complex(dtype) ? whole : Var(ops::real(*whole));
  };
  if (!gV) return through(diagonal_matrix(*gL));
  const Var VhgV = mm(adjoint(V), *gV);
  // The vectors have length 1: what would make them longer is taken out.
  const Var lengths = diagonal_of(VhgV);
  const Var inner = VhgV - mm(adjoint(V), Var(V) * row((lengths + conj(lengths)) * 0.5));
  Var core = without_diagonal(inner / conj(differences(L)));
  if (gL) core = core + diagonal_matrix(*gL);
  return through(core);
}

TensorRef pinv_backward(Tensor& g, Tensor& A, Tensor& P) {
  const Var Ph = adjoint(P), gh = adjoint(g);
  const Var outside = mm(gh, mm(P, Ph)), inside = mm(mm(Ph, P), gh);
  return outside - mm(A, mm(P, outside)) + inside - mm(mm(inside, P), A) - mm(mm(Ph, g), Ph);
}

}  // namespace vivace::formulas

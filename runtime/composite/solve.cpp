// Linear systems and factors made of the recorded operators: vectors as columns, batches that broadcast, transposes.
#include <algorithm>
#include <cmath>

#include "generated/kernels/linalg/factor.h"
#include "generated/kernels/linalg/solve.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/triangle.h"
#include "generated/ops/linalg/factor.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/linalg/solve.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/exp_log.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/composite/value.h"
#include "runtime/kernels/lapack.h"

namespace vivace::composite {
namespace {

using namespace lapack;

/// t with its batch sizes broadcast to `batch`.
TensorRef with_batch(Tensor& t, IntList batch) { return ops::expand(t, extended(batch, {rows(t), cols(t)}), false); }

void check_pair(Tensor& A, Tensor& B, bool left, const char* name) {
  if (A.dtype() != B.dtype())
    fail(name, ": Expected A and B to have the same dtype, but found A of type ", A.dtype(), " and B of type ",
         B.dtype(), " instead");
  if (left ? rows(A) != rows(B) : cols(A) != cols(B))
    fail(name, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", rows(A), "x",
         cols(A), " and ", rows(B), "x", cols(B), ")");
}

/// solve_triangular for checked arguments.
TensorRef triangular(Tensor& A, Tensor& B, bool upper, bool left = true, bool unit = false) {
  const Dims batch = broadcast_sizes(batch_sizes(A), batch_sizes(B));
  return ops::linalg_solve_triangular(*with_batch(A, batch), *with_batch(B, batch), upper, left, unit);
}

std::tuple<TensorRef, TensorRef> solve_checked(Tensor& A, Tensor& B, bool left, bool check_errors) {
  check_square(A, "linalg.solve");
  // B is a vector, or a batch of vectors just as A is one of matrices.
  const IntList of_vectors = A.sizes().first(size_t(A.dim() - 1));
  const bool vector = B.dim() == 1 || (B.dim() == A.dim() - 1 && std::ranges::equal(B.sizes(), of_vectors));
  if (vector && !left) fail("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.");
  if (!vector && B.dim() < 2) fail("linalg.solve: The input tensor B must have at least 2 dimensions.");
  const TensorRef b = vector ? ops::unsqueeze(B, -1) : left ? TensorRef::share(&B) : ops::mT(B);
  const TensorRef a = left ? TensorRef::share(&A) : ops::mT(A);
  check_pair(*a, *b, true, "linalg.solve");
  const Dims batch = broadcast_sizes(batch_sizes(*a), batch_sizes(*b));
  auto [x, info] = ops::linalg_solve_ex(*with_batch(*a, batch), *with_batch(*b, batch), check_errors);
  TensorRef result = vector ? ops::squeeze_dim(*x, -1) : left ? std::move(x) : ops::mT(*x);
  return {std::move(result), std::move(info)};
}

}  // namespace

std::tuple<TensorRef, TensorRef> solve_ex(Tensor& A, Tensor& B, bool left, bool check_errors) {
  return solve_checked(A, B, left, check_errors);
}
TensorRef solve(Tensor& A, Tensor& B, bool left) { return std::get<0>(solve_checked(A, B, left, true)); }

TensorRef solve_triangular(Tensor& A, Tensor& B, bool upper, bool left, bool unitriangular) {
  check_square(A, "linalg.solve_triangular");
  check_matrices(B, "linalg.solve_triangular", "B");
  check_pair(A, B, left, "linalg.solve_triangular");
  return triangular(A, B, upper, left, unitriangular);
}

std::tuple<TensorRef, TensorRef> triangular_solve(Tensor& self, Tensor& A, bool upper, bool transpose,
                                                  bool unitriangular) {
  check_square(A, "triangular_solve");
  check_matrices(self, "triangular_solve", "b");
  check_pair(A, self, true, "triangular_solve");
  const Dims batch = broadcast_sizes(batch_sizes(A), batch_sizes(self));
  TensorRef a = with_batch(A, batch);
  TensorRef side = transpose ? ops::mT(*a) : a;
  TensorRef x = triangular(*side, self, upper != transpose, true, unitriangular);
  return {std::move(x), ops::clone(*a)};
}

TensorRef cholesky_solve(Tensor& self, Tensor& L, bool upper) {
  check_matrices(self, "cholesky_solve", "b");
  check_square(L, "cholesky_solve", "u");
  check_pair(L, self, true, "cholesky_solve");
  const TensorRef other = ops::mH(L);
  const TensorRef half = triangular(upper ? *other : L, self, false);
  return triangular(upper ? L : *other, *half, true);
}

namespace {

void refuse_zero_diagonal(Tensor& factors, const char* name) {
  if (factors.is_meta()) return;
  const TensorRef zero = ops::eq_Scalar(*ops::diagonal(factors, 0, -2, -1), Scalar(0));
  const int64_t n = rows(factors);
  if (!is_true(*ops::any(*zero))) return;
  const std::vector<int64_t> found = integers_of(*zero);
  for (int64_t i = 0; i < zero->numel(); ++i)
    if (found[size_t(i)])
      raise(ErrorKind::LinAlg,
            str(name, ": ", factors.dim() > 2 ? str("(Batch element ", i / n, "): ") : std::string(),
                "The diagonal element ", i % n + 1,
                " is zero, the inversion could not be completed because the input matrix is singular."));
}

}  // namespace

TensorRef cholesky_inverse(Tensor& self, bool upper) {
  check_square(self, "cholesky_inverse");
  refuse_zero_diagonal(self, "cholesky_inverse");
  const TensorRef one = ops::diag_embed(*ops::ones_like(*ops::diagonal(self, 0, -2, -1)));
  return cholesky_solve(*one, self, upper);
}

TensorRef logdet(Tensor& self) {
  check_square(self, "logdet");
  auto [sign, size] = ops::linalg_slogdet(self);
  if (is_complex(self.dtype())) return ops::add_Tensor(*ops::log(*sign), *size);
  return ops::masked_fill_Scalar(*size, *ops::lt_Scalar(*sign, Scalar(0)), Scalar(NAN));
}

// ---- LU

std::tuple<TensorRef, TensorRef, TensorRef> lu_unpack(Tensor& LU, Tensor& pivots, bool unpack_data,
                                                      bool unpack_pivots) {
  if (LU.dim() < 2) fail("torch.lu_unpack: LU_data must have at least 2 dimensions");
  if (unpack_pivots && pivots.dtype() != DType::Int32)
    fail(
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
        "This function is intended to be used with the output produced by torch.linalg.lu_factor");
  const int64_t m = rows(LU), n = cols(LU), k = std::min(m, n);
  if (unpack_pivots && !std::ranges::equal(IntList(pivots.sizes()), IntList(extended(batch_sizes(LU), {k}))))
    fail("torch.lu_unpack: LU_pivots should have shape ", extended(batch_sizes(LU), {k}), " for LU_data of shape ",
         LU.sizes(), ", but got ", pivots.sizes());
  TensorRef P = ops::empty_memory_format({{0}}, LU.dtype(), LU.device()),
            L = ops::empty_memory_format({{0}}, LU.dtype(), LU.device()),
            U = ops::empty_memory_format({{0}}, LU.dtype(), LU.device());
  if (unpack_data) {
    const TensorRef unit = ops::eye_m(m, k, LU.dtype(), LU.device());
    L = ops::add_Tensor(*ops::tril(*ops::narrow(LU, -1, 0, k), -1), *unit);
    U = ops::triu(*ops::narrow(LU, -2, 0, k));
  }
  if (unpack_pivots) {
    // Column j of P has its 1 in the row that came to place j.
    const TensorRef order = ops::pivots_to_permutation(pivots, m);
    const TensorRef zeros = ops::zeros(extended(batch_sizes(LU), {m, m}), LU.dtype(), LU.device());
    P = ops::scatter_value(*zeros, -2, *ops::unsqueeze(*order, -2), Scalar(1));
  }
  return {std::move(P), std::move(L), std::move(U)};
}

std::tuple<TensorRef, TensorRef, TensorRef> linalg_lu(Tensor& A, bool pivot) {
  auto [LU, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, false);
  return lu_unpack(*LU, *pivots, true, true);
}

TensorRef lu_solve_sides(Tensor& LU, Tensor& pivots, Tensor& B, bool left, bool adjoint) {
  check_square(LU, "torch.linalg.lu_solve", "LU");
  check_matrices(B, "torch.linalg.lu_solve", "B");
  check_pair(LU, B, left, "torch.linalg.lu_solve");
  if (pivots.dtype() != DType::Int32) fail("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  if (pivots.dim() != LU.dim() - 1 || pivots.size(-1) != rows(LU))
    fail("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
  // X A = B is A.mH X.mH = B.mH.
  const TensorRef sides = left ? TensorRef::share(&B) : ops::mH(B);
  const Dims batch = broadcast_sizes(batch_sizes(LU), batch_sizes(*sides));
  const TensorRef order = ops::expand(pivots, extended(batch, {rows(LU)}), false);
  const TensorRef x = ops::linalg_lu_solve(*with_batch(LU, batch), *order, *with_batch(*sides, batch), adjoint == left);
  return left ? x : ops::mH(*x);
}
TensorRef lu_solve(Tensor& self, Tensor& LU, Tensor& pivots) { return lu_solve_sides(LU, pivots, self, true, false); }

}  // namespace vivace::composite

// Least squares and systems by LDL factors: vectors as columns, batches that broadcast, residuals.
#include <algorithm>
#include <cmath>

#include "generated/kernels/linalg/reflectors.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/linalg/reflectors.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/complex.h"
#include "generated/ops/reduce/sums.h"
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

/// Squared lengths of the columns of A @ X - B.
TensorRef squared_residuals(Tensor& A, Tensor& X, Tensor& B) {
  const TensorRef rest = ops::abs(*ops::sub_Tensor(*ops::matmul(A, X), B, Scalar(1)));
  return ops::sum_dim_IntList(*ops::mul_Tensor(*rest, *rest), kInts<-2>, false);
}

/// An empty vector that requires grad as the solution does.
TensorRef no_residuals(Tensor& X) { return ops::reshape(*ops::abs(*ops::narrow(X, -1, 0, 0)), kInts<0>); }

}  // namespace

std::tuple<TensorRef, TensorRef, TensorRef, TensorRef> lstsq(Tensor& self, Tensor& b, std::optional<double> rcond,
                                                             std::optional<std::string_view> driver) {
  const std::string_view name = driver.value_or("gelsy");
  check_matrices(self, "torch.linalg.lstsq", "input");
  if (b.dim() < 1) fail("torch.linalg.lstsq: other must have at least 1 dimension.");
  if (self.dtype() != b.dtype())
    fail("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ", self.dtype(),
         " and other's dtype ", b.dtype());
  if (name != "gels" && name != "gelsy" && name != "gelsd" && name != "gelss")
    fail("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  const int64_t fewer = self.dim() - b.dim();
  if (fewer != 0 && fewer != 1)
    fail(
        "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
  const TensorRef sides = fewer ? ops::unsqueeze(b, -1) : TensorRef::share(&b);
  const int64_t m = rows(self), n = cols(self);
  if (rows(*sides) != m) fail("torch.linalg.lstsq: input.size(-2) should match other.size(-", fewer ? 1 : 2, ")");
  const Dims batch = broadcast_sizes(batch_sizes(self), batch_sizes(*sides));
  const TensorRef A = with_batch(self, batch), B = with_batch(*sides, batch);
  const double eps = real_of(self.dtype()) == DType::Float32 ? 1.1920929e-7 : 2.220446049250313e-16;
  auto [X, rank, values] = ops::linalg_lstsq(*A, *B, rcond.value_or(eps * double(std::max(m, n))), name);
  // There are residuals where all matrices are high and of full rank, and the driver finds them.
  bool full = name != "gelsy" && m > n && A->numel() > 0;
  if (full && has_values(*rank)) full = is_true(*ops::all(*ops::eq_Scalar(*rank, n)));
  TensorRef residuals = full ? squared_residuals(*A, *X, *B) : no_residuals(*X);
  return {fewer ? ops::squeeze_dim(*X, -1) : std::move(X), std::move(residuals), std::move(rank), std::move(values)};
}

TensorRef ldl_solve(Tensor& LD, Tensor& pivots, Tensor& B, bool hermitian) {
  constexpr const char* kName = "torch.linalg.ldl_solve";
  check_square(LD, kName, "LD");
  check_matrices(B, kName, "B");
  if (B.dtype() != LD.dtype()) fail(kName, ": LD dtype ", LD.dtype(), " does not match B dtype ", B.dtype());
  if (rows(B) != rows(LD)) fail(kName, ": Incompatible matrix sizes: LD is ", LD.sizes(), ", B is ", B.sizes());
  if (pivots.dtype() == DType::Bool || is_differentiable(pivots.dtype()))
    fail(kName, ": Expected pivots to be integers. Got ", pivots.dtype());
  if (!std::ranges::equal(pivots.sizes(), LD.sizes().first(size_t(LD.dim() - 1))))
    fail(kName, ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes());
  const Dims batch = broadcast_sizes(batch_sizes(LD), batch_sizes(B));
  const TensorRef order = ops::expand(pivots, extended(batch, {rows(LD)}), false);
  return ops::linalg_ldl_solve(*with_batch(LD, batch), *order, *with_batch(B, batch), hermitian);
}

}  // namespace vivace::composite

// Norms of matrices, and what follows from singular values: which of them count as 0 is decided here.
#include <algorithm>
#include <cmath>

#include "generated/kernels/linalg/exponential.h"
#include "generated/kernels/linalg/norms.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/factory/ranges.h"
#include "generated/ops/linalg/exponential.h"
#include "generated/ops/linalg/factor.h"
#include "generated/ops/linalg/norms.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/linalg/spectral.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/pointwise/compare.h"
#include "generated/ops/pointwise/divide.h"
#include "generated/ops/pointwise/select.h"
#include "generated/ops/reduce/extremes.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/kernels/lapack.h"

namespace vivace::composite {
namespace {

using Dtype = std::optional<DType>;
using DimList = std::optional<IntList>;
using namespace lapack;

void check_norm(Tensor& A, IntList dim, const char* name) {
  if (A.dim() < 2) fail(name, ": The input tensor A must have at least 2 dimensions.");
  if (dim.size() != 2) fail(name, ": dim must be a 2-tuple. Got ", dim);
  if (wrap_dim(dim[0], A.dim()) == wrap_dim(dim[1], A.dim()))
    fail(name, ": dims must be different. Got (", dim[0], ", ", dim[1], ")");
  if (!is_differentiable(A.dtype()))
    fail(name, ": Expected a floating point or complex tensor as input. Got ", A.dtype());
}

/// The singular values of the matrices along two dims, as the last dim.
TensorRef singular_values(Tensor& A, IntList dim) {
  const int64_t from[] = {dim[0], dim[1]}, to[] = {-2, -1};
  return ops::svdvals(*ops::movedim_intlist(A, from, to), std::nullopt);
}

/// Puts dims of size 1 where two dims were reduced.
TensorRef kept(TensorRef t, IntList dim, int64_t ndim, bool keepdim) {
  if (!keepdim) return t;
  int64_t a = wrap_dim(dim[0], ndim), b = wrap_dim(dim[1], ndim);
  if (a > b) std::swap(a, b);
  return ops::unsqueeze(*ops::unsqueeze(*t, a), b);
}

/// Of no sizes, the largest is 0.
TensorRef extreme(Tensor& t, int64_t dim, bool keepdim, bool largest) {
  const int64_t dims[] = {dim};
  if (largest && t.size(dim) == 0) return ops::sum_dim_IntList(t, dims, keepdim, std::nullopt);
  return largest ? ops::amax(t, dims, keepdim) : ops::amin(t, dims, keepdim);
}

}  // namespace

TensorRef matrix_norm(Tensor& self, const Scalar& ord, IntList dim, bool keepdim, Dtype dtype) {
  check_norm(self, dim, "linalg.matrix_norm");
  const double p = ord.to_double(), size = std::abs(p);
  if (size != 1 && size != 2 && !std::isinf(size)) fail("linalg.matrix_norm: Order ", p, " not supported.");
  const TensorRef A = dtype ? ops::to_dtype(self, *dtype) : TensorRef::share(&self);
  if (size == 2) {
    const TensorRef values = singular_values(*A, dim);
    return kept(extreme(*values, -1, false, p > 0), dim, self.dim(), keepdim);
  }
  int64_t summed = wrap_dim(dim[0], self.dim()), compared = wrap_dim(dim[1], self.dim());
  if (std::isinf(size)) std::swap(summed, compared);
  if (!keepdim && compared > summed) --compared;
  const TensorRef sums = ops::linalg_vector_norm(*A, Scalar(1), IntList(&summed, 1), keepdim, std::nullopt);
  return extreme(*sums, compared, keepdim, p > 0);
}
TensorRef matrix_norm_str(Tensor& self, std::string_view ord, IntList dim, bool keepdim, Dtype dtype) {
  check_norm(self, dim, "linalg.matrix_norm");
  if (ord == "fro") return ops::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
  if (ord != "nuc") fail("linalg.matrix_norm: Order ", ord, " not supported.");
  const TensorRef A = dtype ? ops::to_dtype(self, *dtype) : TensorRef::share(&self);
  const TensorRef values = singular_values(*A, dim);
  const int64_t last[] = {-1};
  return kept(ops::sum_dim_IntList(*values, last, false, std::nullopt), dim, self.dim(), keepdim);
}

TensorRef linalg_norm(Tensor& self, const Scalar* ord, DimList dim, bool keepdim, Dtype dtype) {
  if (dim && dim->size() != 1 && dim->size() != 2)
    fail("linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  if (!ord) return ops::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
  if (!dim && self.dim() != 1 && self.dim() != 2)
    fail("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  const bool vectors = dim ? dim->size() == 1 : self.dim() == 1;
  if (vectors) return ops::linalg_vector_norm(self, *ord, dim, keepdim, dtype);
  return matrix_norm(self, *ord, dim.value_or(IntList(kInts<0, 1>)), keepdim, dtype);
}
TensorRef linalg_norm_str(Tensor& self, std::string_view ord, DimList dim, bool keepdim, Dtype dtype) {
  if (dim && dim->size() != 1 && dim->size() != 2)
    fail("linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  return matrix_norm_str(self, ord, dim.value_or(IntList(kInts<0, 1>)), keepdim, dtype);
}

namespace {

/// norm(A) * norm(inv(A)) for norms of a matrix; a matrix without an inverse has an infinite condition.
template <class Norm>
TensorRef condition(Tensor& A, Norm&& norm) {
  if (A.numel() == 0) return ops::zeros(batch_sizes(A), real_of(A.dtype()), A.device());
  check_square(A, "linalg.cond");
  auto [inverse, info] = ops::linalg_inv_ex(A, false);
  const TensorRef of_inverse = norm(*inverse), product = ops::mul_Tensor(*norm(A), *of_inverse);
  return ops::masked_fill_Scalar(*product, *ops::gt_Scalar(*info, Scalar(0)), Scalar(INFINITY));
}

}  // namespace

TensorRef cond(Tensor& self, const Scalar* p) {
  check_matrices(self, "linalg.cond");
  const double order = p ? p->to_double() : 2;
  if (std::abs(order) != 2)
    return condition(self, [&](Tensor& A) { return matrix_norm(A, *p, kInts<-2, -1>, false, std::nullopt); });
  if (self.numel() == 0) return ops::zeros(batch_sizes(self), real_of(self.dtype()), self.device());
  const TensorRef values = ops::svdvals(self, std::nullopt);
  const TensorRef largest = ops::select_int(*values, -1, 0), least = ops::select_int(*values, -1, -1);
  return order > 0 ? ops::div_Tensor(*largest, *least) : ops::div_Tensor(*least, *largest);
}
TensorRef cond_str(Tensor& self, std::string_view p) {
  check_square(self, "linalg.cond");
  return condition(self, [&](Tensor& A) { return matrix_norm_str(A, p, kInts<-2, -1>, false, std::nullopt); });
}

// ---- tolerances

namespace {

struct Tolerance {
  TensorRef absolute, relative;  // null: not given
};

Tolerance tolerance_of(const Tensor& A, std::optional<double> atol, std::optional<double> rtol) {
  const auto number = [&](std::optional<double> x) {
    return x ? scalar_tensor(Scalar(*x), real_of(A.dtype()), A.device()) : TensorRef();
  };
  return {number(atol), number(rtol)};
}
Tolerance tolerance_of(Tensor* atol, Tensor* rtol, const char* name) {
  for (Tensor* t : {atol, rtol})
    if (t && is_complex(t->dtype()))
      fail(name, ": tolerance tensors of complex type are not supported. Got ", t->dtype());
  return {TensorRef::share(atol), TensorRef::share(rtol)};
}

/// The sizes of singular values, of Hermitian matrices by their eigenvalues; no gradient. Values that are found beside
/// vectors differ from those found alone in the last bits.
TensorRef sizes_of_values(Tensor& A, bool hermitian, bool vectors) {
  const TensorRef plain = ops::detach(A);
  if (hermitian) return ops::abs(*std::get<0>(ops::linalg_eigh(*plain, "L", vectors)));
  return std::get<1>(ops::linalg_svd(*plain, false, vectors));
}

/// max(atol, rtol * largest) of each matrix; without atol, rtol is by default eps times the longer side.
TensorRef threshold(const Tensor& A, Tensor& values, const Tolerance& tolerance) {
  const double eps = values.dtype() == DType::Float32 ? 1.1920929e-7 : 2.220446049250313e-16;
  const double standard = tolerance.absolute ? 0 : eps * double(std::max(rows(A), cols(A)));
  const TensorRef largest =
      values.size(-1) ? extreme(values, -1, false, true) : ops::zeros(batch_sizes(A), values.dtype(), A.device());
  const TensorRef relative =
      tolerance.relative ? ops::mul_Tensor(*largest, *tolerance.relative) : ops::mul_Scalar(*largest, Scalar(standard));
  return tolerance.absolute ? ops::maximum(*relative, *tolerance.absolute) : relative;
}

TensorRef pseudoinverse(Tensor& A, const Tolerance& tolerance, bool hermitian) {
  check_matrices(A, "linalg.pinv");
  hermitian &= A.numel() > 0;
  if (hermitian) check_square(A, "linalg.pinv");
  const TensorRef values = sizes_of_values(A, hermitian, true);
  const TensorRef limit = threshold(A, *values, tolerance);
  return ops::linalg_pinv(A, *ops::to_dtype(*limit, real_of(A.dtype())), hermitian);
}

TensorRef rank(Tensor& A, const Tolerance& tolerance, bool hermitian) {
  check_matrices(A, "linalg.matrix_rank");
  hermitian &= A.numel() > 0;
  if (hermitian) check_square(A, "linalg.matrix_rank");
  const TensorRef values = sizes_of_values(A, hermitian, false);
  const TensorRef limit = threshold(A, *values, tolerance);
  const TensorRef above = ops::gt_Tensor(*values, *ops::unsqueeze(*limit, -1));
  const int64_t last[] = {-1};
  return ops::sum_dim_IntList(*above, last, false, std::nullopt);
}

}  // namespace

TensorRef pinv_atol_rtol(Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return pseudoinverse(self, tolerance_of(self, atol, rtol), hermitian);
}
TensorRef pinv_atol_rtol_tensor(Tensor& self, Tensor* atol, Tensor* rtol, bool hermitian) {
  return pseudoinverse(self, tolerance_of(atol, rtol, "linalg.pinv"), hermitian);
}
TensorRef pinv_rcond(Tensor& self, double rcond, bool hermitian) {
  return pseudoinverse(self, tolerance_of(self, 0.0, rcond), hermitian);
}
TensorRef pinverse(Tensor& self, double rcond) { return pinv_rcond(self, rcond, false); }

TensorRef matrix_rank(Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return rank(self, tolerance_of(self, atol, rtol), hermitian);
}
TensorRef matrix_rank_atol_rtol_tensor(Tensor& self, Tensor* atol, Tensor* rtol, bool hermitian) {
  return rank(self, tolerance_of(atol, rtol, "linalg.matrix_rank"), hermitian);
}
TensorRef matrix_rank_tol(Tensor& self, double tol, bool hermitian) {
  return rank(self, tolerance_of(self, tol, 0.0), hermitian);
}
TensorRef matrix_rank_tol_tensor(Tensor& input, Tensor& tol, bool hermitian) {
  return rank(input, tolerance_of(&tol, nullptr, "linalg.matrix_rank"), hermitian);
}

TensorRef matrix_exp(Tensor& self) {
  if (self.dim() < 2) fail("linalg.matrix_exp: The input tensor A must have at least 2 dimensions.");
  if (!is_differentiable(self.dtype()))
    fail("linalg.matrix_exp: Expected a floating point or complex tensor as input. Got ", self.dtype());
  if (rows(self) != cols(self))
    fail("linalg.matrix_exp: A must be batches of square matrices, but they are ", rows(self), " by ", cols(self),
         " matrices");
  return ops::linalg_matrix_exp(self);
}

TensorRef matrix_power(Tensor& self, int64_t n) {
  if (self.dim() < 2) fail("linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
  if (rows(self) != cols(self))
    fail("linalg.matrix_power: A must be batches of square matrices, but they are ", rows(self), " by ", cols(self),
         " matrices");
  if (n == 0) {
    const TensorRef one = ops::eye(rows(self), self.dtype(), self.device());
    return ops::add_Tensor(*ops::fill_Scalar(self, Scalar(0)), *one, Scalar(1));
  }
  TensorRef square = n < 0 ? std::get<0>(ops::linalg_inv_ex(self, true)) : TensorRef::share(&self), result;
  for (uint64_t left = n < 0 ? -uint64_t(n) : uint64_t(n);;) {
    if (left & 1) result = result ? ops::matmul(*result, *square) : square;
    if (left >>= 1)
      square = ops::matmul(*square, *square);
    else
      break;
  }
  return n == 1 ? ops::clone(*result, MemoryFormat::Contiguous) : result;
}

}  // namespace vivace::composite

// The pseudoinverse from singular values or eigenvalues, of which the small ones count as 0.
#include <cmath>
#include <vector>

#include "generated/kernels/linalg/norms.h"
#include "generated/kernels/linalg/spectral.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/lapack.h"

namespace vivace {

using namespace lapack;

namespace meta {

TensorRef linalg_pinv(Tensor& A, Tensor&, bool) {
  return empty(extended(batch_sizes(A), {cols(A), rows(A)}), A.dtype(), A.device());
}

}  // namespace meta

namespace kernels {

namespace {

/// out = V @ diag(1 / L) @ V.mH for the eigenvalues L whose size is above the limit.
void hermitian_pinv(Tensor& A, Tensor& tolerance, Tensor& out) {
  auto [L, V] = meta::linalg_eigh(A, "L", true);
  linalg_eigh(A, "L", true, *L, *V);
  const TensorRef limits = empty(batch_sizes(A), L->dtype());
  copy_into(*limits, tolerance);
  const int64_t n = rows(A);
  visit_matrix(A.dtype(), [&]<class T>() {
    std::vector<T> scaled(size_t(n * n), T{});
    for (int64_t i = 0; i < batches(A); ++i) {
      T* v = matrix_at<T>(*V, i);
      const Real<T>* l = L->template data<Real<T>>() + i * n;
      const Real<T> limit = limits->template data<Real<T>>()[i];
      for (int64_t col = 0; col < n; ++col)
        for (int64_t row = 0; row < n; ++row) {
          const Real<T> factor = std::abs(l[col]) > limit ? 1 / l[col] : 0;
          T& x = scaled[size_t(col * n + row)] = v[col * n + row];
          if constexpr (kComplex<T>)
            x = {x.re * factor, -x.im * factor};
          else
            x *= factor;
        }
      // Columns of V times rows of the conjugate that is scaled.
      const Matrix left{reinterpret_cast<char*>(v), n, n, 1, n},
          right{reinterpret_cast<char*>(scaled.data()), n, n, n, 1},
          product{reinterpret_cast<char*>(matrix_at<T>(out, i)), n, n, n, 1};
      gemm(A.dtype(), left, right, product);
    }
  });
}

}  // namespace

void linalg_pinv(Tensor& A, Tensor& tolerance, bool hermitian, Tensor& out) {
  if (hermitian) return hermitian_pinv(A, tolerance, out);
  auto [U, S, Vh] = meta::linalg_svd(A, false, true);
  linalg_svd(A, false, true, *U, *S, *Vh);
  const TensorRef limits = empty(batch_sizes(A), S->dtype());
  copy_into(*limits, tolerance);
  const int64_t k = S->size(-1), m = rows(A), n = cols(A);
  if (out.numel() == 0) return;
  // V is scaled column by column, then out = V @ U.mH, all matrices being columns: conj(U) first.
  visit_matrix(A.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < batches(A); ++i) {
      const Real<T>* s = S->template data<Real<T>>() + i * k;
      T* v = matrix_at<T>(*Vh, i);
      T* u = matrix_at<T>(*U, i);
      const Real<T> limit = limits->template data<Real<T>>()[i];
      for (int64_t col = 0; col < n; ++col)
        for (int64_t j = 0; j < k; ++j) {
          T& x = v[col * k + j];
          const Real<T> factor = s[j] > limit ? 1 / s[j] : 0;
          if constexpr (kComplex<T>)
            x = {x.re * factor, -x.im * factor};
          else
            x *= factor;
        }
      if constexpr (kComplex<T>)
        for (int64_t e = 0; e < m * k; ++e) u[e].im = -u[e].im;
      const Matrix left{reinterpret_cast<char*>(v), n, k, k, 1}, right{reinterpret_cast<char*>(u), k, m, m, 1},
          product{reinterpret_cast<char*>(matrix_at<T>(out, i)), n, m, m, 1};
      gemm(A.dtype(), left, right, product);
    }
  });
}

}  // namespace kernels
}  // namespace vivace

// Triangular factors of matrices (LU, Cholesky), and what is solved with them: inverses, systems, determinants.
#include <cmath>
#include <vector>

#include "generated/kernels/linalg/factor.h"
#include "generated/kernels/linalg/solve.h"
#include "runtime/kernels/arith.h"
#include "runtime/kernels/lapack.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using namespace lapack;

namespace {

template <class T>
auto getrf() {
  static const auto f = routine<T, int (*)(int, int, int, T*, int, int*)>("getrf");
  return f;
}
template <class T>
auto getri() {
  static const auto f = routine<T, int (*)(int, int, T*, int, const int*)>("getri");
  return f;
}
template <class T>
auto getrs() {
  static const auto f = routine<T, int (*)(int, char, int, int, const T*, int, const int*, T*, int)>("getrs");
  return f;
}
template <class T>
auto potrf() {
  static const auto f = routine<T, int (*)(int, char, int, T*, int)>("potrf");
  return f;
}

/// Matrices that are worth a thread.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 100000 / std::max<int64_t>(n * n * n, 1)); }

std::string singular(const char* what, int code) { return str("The ", what, " element ", code, " is zero, the "); }

}  // namespace

namespace meta {

std::tuple<TensorRef, TensorRef> linalg_inv_ex(Tensor& A, bool) {
  check_square(A, "linalg.inv");
  return {empty_columns(A.sizes(), A.dtype(), A.device()), empty(batch_sizes(A), DType::Int32, A.device())};
}
std::tuple<TensorRef, TensorRef> linalg_solve_ex(Tensor& A, Tensor& B, bool) {
  check_square(A, "linalg.solve");
  return {empty_columns(B.sizes(), A.dtype(), A.device()), empty(batch_sizes(A), DType::Int32, A.device())};
}
std::tuple<TensorRef, TensorRef> linalg_cholesky_ex(Tensor& A, bool, bool) {
  check_square(A, "linalg.cholesky");
  return {empty_columns(A.sizes(), A.dtype(), A.device()), empty(batch_sizes(A), DType::Int32, A.device())};
}
std::tuple<TensorRef, TensorRef, TensorRef> linalg_lu_factor_ex(Tensor& A, bool pivot, bool) {
  check_matrices(A, "linalg.lu_factor");
  if (!pivot) fail("linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  const Dims pivots = extended(batch_sizes(A), {std::min(rows(A), cols(A))});
  return {empty_columns(A.sizes(), A.dtype(), A.device()), empty(pivots, DType::Int32, A.device()),
          empty(batch_sizes(A), DType::Int32, A.device())};
}
TensorRef linalg_solve_triangular(Tensor& A, Tensor& B, bool, bool, bool) {
  return empty_columns(B.sizes(), A.dtype(), A.device());
}
TensorRef linalg_lu_solve(Tensor&, Tensor&, Tensor& B, bool) { return empty_columns(B.sizes(), B.dtype(), B.device()); }
TensorRef linalg_det(Tensor& A) {
  check_square(A, "linalg.det");
  return empty(batch_sizes(A), A.dtype(), A.device());
}
std::tuple<TensorRef, TensorRef> linalg_slogdet(Tensor& A) {
  check_square(A, "linalg.slogdet");
  return {empty(batch_sizes(A), A.dtype(), A.device()), empty(batch_sizes(A), real_of(A.dtype()), A.device())};
}
TensorRef pivots_to_permutation(Tensor& pivots, int64_t rows) {
  return empty(extended(pivots.sizes().first(size_t(pivots.dim() - 1)), {rows}), DType::Int64, pivots.device());
}

}  // namespace meta

namespace kernels {

void linalg_inv_ex(Tensor& A, bool check_errors, Tensor& out, Tensor& info) {
  copy_into(out, A);
  const int n = int(rows(A)), ld = leading(n);
  visit_matrix(A.dtype(), [&]<class T>() {
    const auto factor = getrf<T>();
    const auto invert = getri<T>();
    const auto solve = getrs<T>();
    parallel_for(0, batches(A), grain(n), [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(size_t(n), 0);
      for (int64_t i = begin; i < end; ++i) {
        T* a = matrix_at<T>(out, i);
        int code = n ? factor(blas::kColMajor, n, n, a, ld, pivots.data()) : 0;
        if (n && code == 0) code = invert(blas::kColMajor, n, a, ld, pivots.data());
        if (code > 0) {  // singular: what substitution gives, infinities and NaN
          const std::vector<T> lu(a, a + int64_t(n) * n);
          std::fill_n(a, int64_t(n) * n, T{});
          for (int64_t k = 0; k < n; ++k) a[k * n + k] = T{1};
          solve(blas::kColMajor, 'N', n, n, lu.data(), ld, pivots.data(), a, ld);
        }
        info.data<int32_t>()[i] = code;
      }
    });
  });
  if (check_errors)
    check_info(info, "linalg.inv", [](int code) {
      return singular("diagonal", code) + "inversion could not be completed because the input matrix is singular.";
    });
}

void linalg_solve_ex(Tensor& A, Tensor& B, bool check_errors, Tensor& out, Tensor& info) {
  copy_into(out, B);
  const TensorRef lu = copy_columns(A);
  const int n = int(rows(A)), k = int(cols(B)), ld = leading(n);
  visit_matrix(A.dtype(), [&]<class T>() {
    const auto factor = getrf<T>();
    const auto solve = getrs<T>();
    parallel_for(0, batches(A), grain(n), [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(size_t(n), 0);
      for (int64_t i = begin; i < end; ++i) {
        T* a = matrix_at<T>(*lu, i);
        const int code = n ? factor(blas::kColMajor, n, n, a, ld, pivots.data()) : 0;
        if (n && k && code >= 0) solve(blas::kColMajor, 'N', n, k, a, ld, pivots.data(), matrix_at<T>(out, i), ld);
        info.data<int32_t>()[i] = code;
      }
    });
  });
  if (check_errors)
    check_info(info, "torch.linalg.solve", [](int code) {
      return str("The solver failed because the input matrix is singular.", code < 0 ? " (illegal value)" : "");
    });
}

void linalg_lu_solve(Tensor& LU, Tensor& pivots, Tensor& B, bool adjoint, Tensor& out) {
  copy_into(out, B);
  const TensorRef factors = copy_columns(LU), order = contiguous(pivots);
  const int n = int(rows(LU)), k = int(cols(B)), ld = leading(n);
  if (out.numel() == 0) return;
  for (int64_t i = 0; i < order->numel(); ++i)
    if (const int at = order->data<int32_t>()[i]; at < 1 || at > n)
      fail("Pivots given to lu_solve must all be greater or equal to 1 and at most ", n, ", but found ", at);
  visit_matrix(out.dtype(), [&]<class T>() {
    const auto solve = getrs<T>();
    const char trans = !adjoint ? 'N' : kComplex<T> ? 'C' : 'T';
    parallel_for(0, batches(out), grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        solve(blas::kColMajor, trans, n, k, matrix_at<T>(*factors, i), ld, order->data<int32_t>() + i * n,
              matrix_at<T>(out, i), ld);
    });
  });
}

void linalg_cholesky_ex(Tensor& A, bool upper, bool check_errors, Tensor& out, Tensor& info) {
  copy_into(out, A);
  const int n = int(rows(A)), ld = leading(n);
  visit_matrix(A.dtype(), [&]<class T>() {
    const auto factor = potrf<T>();
    parallel_for(0, batches(A), grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* a = matrix_at<T>(out, i);
        info.data<int32_t>()[i] = n ? factor(blas::kColMajor, upper ? 'U' : 'L', n, a, ld) : 0;
        for (int64_t col = 0; col < n; ++col)
          for (int64_t row = upper ? col + 1 : 0; row < (upper ? n : col); ++row) a[col * n + row] = T{};
      }
    });
  });
  if (check_errors)
    check_info(info, "linalg.cholesky", [](int code) {
      return str(
          "The factorization could not be completed because the input is not positive-definite (the leading "
          "minor of order ",
          code, " is not positive-definite).");
    });
}

void linalg_lu_factor_ex(Tensor& A, bool, bool check_errors, Tensor& out, Tensor& pivots, Tensor& info) {
  copy_into(out, A);
  const int m = int(rows(A)), n = int(cols(A)), k = std::min(m, n);
  visit_matrix(A.dtype(), [&]<class T>() {
    const auto factor = getrf<T>();
    parallel_for(0, batches(A), grain(k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        info.data<int32_t>()[i] =
            k ? factor(blas::kColMajor, m, n, matrix_at<T>(out, i), leading(m), pivots.data<int32_t>() + i * k) : 0;
    });
  });
  if (check_errors)
    check_info(info, "torch.linalg.lu_factor", [](int code) {
      return str("U[", code, ",", code,
                 "] is zero and using it on lu_solve would result in a division by zero. If you "
                 "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                 "linalg.lu_factor_ex(A, pivot)");
    });
}

void linalg_solve_triangular(Tensor& A, Tensor& B, bool upper, bool left, bool unitriangular, Tensor& out) {
  copy_into(out, B);
  const TensorRef factor = copy_columns(A);
  const int m = int(rows(B)), n = int(cols(B)), ld = leading(rows(A));
  if (m == 0 || n == 0) return;
  // CBLAS's names: upper 121, lower 122; non-unit 131, unit 132; left 141, right 142.
  const int side = left ? 141 : 142, uplo = upper ? 121 : 122, diag = unitriangular ? 132 : 131;
  visit_matrix(A.dtype(), [&]<class T>() {
    using Alpha = std::conditional_t<kComplex<T>, const T*, T>;
    using Trsm = void (*)(int, int, int, int, int, int, int, Alpha, const T*, int, T*, int);
    static const auto solve =
        reinterpret_cast<Trsm>(blas::symbol((std::string("cblas_") + kLetter<T> + "trsm").c_str()));
    static const T one = narrow<T>(Wide<T>{1});
    Alpha alpha;
    if constexpr (kComplex<T>)
      alpha = &one;
    else
      alpha = one;
    parallel_for(0, batches(B), grain(std::min(m, n)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        solve(blas::kColMajor, side, uplo, blas::kNoTrans, diag, m, n, alpha, matrix_at<T>(*factor, i), ld,
              matrix_at<T>(out, i), leading(m));
    });
  });
}

namespace {

/// Calls f(i, diagonal of U, whether the rows were swapped an odd number of times) for each matrix.
template <class T, class F>
void for_each_diagonal(const Tensor& A, F&& f) {
  const TensorRef lu = copy_columns(A);
  const int n = int(rows(A));
  const auto factor = getrf<T>();
  parallel_for(0, batches(A), grain(n), [&](int64_t begin, int64_t end) {
    std::vector<int> pivots(size_t(n), 0);
    std::vector<T> diagonal(size_t(n), T{});
    for (int64_t i = begin; i < end; ++i) {
      T* a = matrix_at<T>(*lu, i);
      if (n) factor(blas::kColMajor, n, n, a, leading(n), pivots.data());
      bool odd = false;
      for (int d = 0; d < n; ++d) {
        diagonal[size_t(d)] = a[int64_t(d) * n + d];
        odd ^= pivots[size_t(d)] != d + 1;
      }
      f(i, diagonal, odd);
    }
  });
}

template <class T>
Real<T> size_of(T x) {
  if constexpr (kComplex<T>)
    return std::hypot(x.re, x.im);
  else
    return std::abs(x);
}

}  // namespace

void linalg_det(Tensor& A, Tensor& out) {
  visit_matrix(A.dtype(), [&]<class T>() {
    for_each_diagonal<T>(A, [&](int64_t i, const std::vector<T>& diagonal, bool odd) {
      T product = narrow<T>(Wide<T>{Real<T>(odd ? -1 : 1)});
      for (T x : diagonal) product = mul(product, x);
      out.data<T>()[i] = product;
    });
  });
}

void linalg_slogdet(Tensor& A, Tensor& sign, Tensor& logabsdet) {
  visit_matrix(A.dtype(), [&]<class T>() {
    for_each_diagonal<T>(A, [&](int64_t i, const std::vector<T>& diagonal, bool odd) {
      T phase = narrow<T>(Wide<T>{Real<T>(odd ? -1 : 1)});
      Real<T> sum = 0;
      for (T x : diagonal) {
        const Real<T> size = size_of(x);
        sum += std::log(size);
        if constexpr (kComplex<T>)
          phase = size == 0 ? T{} : mul(phase, T{x.re / size, x.im / size});
        else
          phase *= T(x > 0 ? 1 : x < 0 ? -1 : x);
      }
      sign.data<T>()[i] = phase;
      logabsdet.data<Real<T>>()[i] = sum;
    });
  });
}

void pivots_to_permutation(Tensor& pivots, int64_t rows, Tensor& out) {
  const TensorRef from = contiguous(pivots);
  const int64_t k = pivots.size(-1);
  for (int64_t i = 0; i < count(pivots.sizes().first(size_t(pivots.dim() - 1))); ++i) {
    int64_t* p = out.data<int64_t>() + i * rows;
    for (int64_t j = 0; j < rows; ++j) p[j] = j;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t other = int64_t(from->data<int32_t>()[i * k + j]) - 1;
      if (other < 0 || other >= rows) fail("lu_unpack: pivots must be between 1 and ", rows, ", but found ", other + 1);
      std::swap(p[j], p[other]);
    }
  }
}

}  // namespace kernels
}  // namespace vivace

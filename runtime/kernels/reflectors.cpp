// QR in packed form, products of reflectors, LDL factors and least squares by LAPACK.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "generated/kernels/linalg/reflectors.h"
#include "runtime/kernels/lapack.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using namespace lapack;

namespace {

/// Matrices that are worth a thread.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 100000 / std::max<int64_t>(n * n * n, 1)); }

/// input holds reflectors in its first columns, as many as tau has factors.
void check_reflectors(const Tensor& input, const Tensor& tau, const char* name) {
  check_matrices(input, name, "input");
  if (rows(input) < tau.size(-1) || cols(input) < tau.size(-1))
    fail(name, ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  if (tau.dim() != input.dim() - 1)
    fail(name, ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
         " and input.ndim is equal to ", input.dim());
  if (!std::ranges::equal(batch_sizes(input), tau.sizes().first(size_t(tau.dim() - 1))))
    fail(name, ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", tau.sizes());
  if (tau.dtype() != input.dtype())
    fail(name, ": tau dtype ", tau.dtype(), " does not match input dtype ", input.dtype());
}

}  // namespace

namespace meta {

std::tuple<TensorRef, TensorRef> geqrf(Tensor& self) {
  check_matrices(self, "torch.geqrf", "input");
  return {empty_columns(self.sizes(), self.dtype(), self.device()),
          empty(extended(batch_sizes(self), {std::min(rows(self), cols(self))}), self.dtype(), self.device())};
}

TensorRef linalg_householder_product(Tensor& input, Tensor& tau) {
  check_matrices(input, "torch.linalg.householder_product", "input");
  if (rows(input) < cols(input))
    fail("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]");
  check_reflectors(input, tau, "torch.linalg.householder_product");
  return empty_columns(input.sizes(), input.dtype(), input.device());
}

TensorRef ormqr(Tensor& self, Tensor& input2, Tensor& input3, bool left, bool) {
  check_matrices(self, "torch.ormqr", "input");
  check_matrices(input3, "torch.ormqr", "other");
  if (input3.dim() != self.dim() || !std::ranges::equal(batch_sizes(input3), batch_sizes(self)))
    fail("torch.ormqr: Expected other to have the same number of dimensions and the same batch as input, but got ",
         input3.sizes(), " and ", self.sizes());
  if ((left ? rows(input3) : cols(input3)) != rows(self))
    fail("torch.ormqr: other.shape[", left ? -2 : -1, "] must be equal to input.shape[-2]");
  check_reflectors(self, input2, "torch.ormqr");
  if (input2.size(-1) != std::min(rows(self), cols(self)))
    fail("torch.ormqr: tau.shape[-1] must be equal to min(other.shape[", left ? -2 : -1, "], input.shape[-1])");
  if (input3.dtype() != self.dtype())
    fail("torch.ormqr: other dtype ", input3.dtype(), " does not match input dtype ", self.dtype());
  return empty_columns(input3.sizes(), self.dtype(), self.device());
}

std::tuple<TensorRef, TensorRef, TensorRef> linalg_ldl_factor_ex(Tensor& self, bool, bool) {
  check_square(self, "torch.linalg.ldl_factor_ex");
  return {empty_columns(self.sizes(), self.dtype(), self.device()),
          empty(self.sizes().first(size_t(self.dim() - 1)), DType::Int32, self.device()),
          empty(batch_sizes(self), DType::Int32, self.device())};
}

TensorRef linalg_ldl_solve(Tensor&, Tensor&, Tensor& B, bool) {
  return empty_columns(B.sizes(), B.dtype(), B.device());
}

std::tuple<TensorRef, TensorRef, TensorRef> linalg_lstsq(Tensor& A, Tensor& B, double, std::string_view driver) {
  const IntList batch = batch_sizes(A);
  const bool ranked = driver != "gels", values = driver == "gelsd" || driver == "gelss";
  const int64_t k = std::min(rows(A), cols(A));
  const Dims none{0};
  return {empty_columns(extended(batch, {cols(A), cols(B)}), A.dtype(), A.device()),
          empty(ranked ? batch : IntList(none), DType::Int64, A.device()),
          empty(values ? IntList(extended(batch, {k})) : IntList(none), real_of(A.dtype()), A.device())};
}

}  // namespace meta

namespace kernels {

void geqrf(Tensor& self, Tensor& a, Tensor& tau) {
  copy_into(a, self);
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
  if (k == 0) return;
  visit_matrix(a.dtype(), [&]<class T>() {
    static const auto factor = routine<T, int (*)(int, int, int, T*, int, T*)>("geqrf");
    parallel_for(0, batches(a), grain(k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        factor(blas::kColMajor, int(m), int(n), matrix_at<T>(a, i), leading(m), tau.data<T>() + i * k);
    });
  });
}

void linalg_householder_product(Tensor& input, Tensor& tau, Tensor& out) {
  copy_into(out, input);
  const TensorRef factors = contiguous(tau);
  const int64_t m = rows(out), n = cols(out), k = tau.size(-1);
  if (out.numel() == 0) return;
  visit_matrix(out.dtype(), [&]<class T>() {
    static const auto expand =
        routine<T, int (*)(int, int, int, int, T*, int, const T*)>(kComplex<T> ? "ungqr" : "orgqr");
    parallel_for(0, batches(out), grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        expand(blas::kColMajor, int(m), int(n), int(k), matrix_at<T>(out, i), leading(m),
               factors->template data<T>() + i * k);
    });
  });
}

void ormqr(Tensor& self, Tensor& input2, Tensor& input3, bool left, bool transpose, Tensor& out) {
  copy_into(out, input3);
  const TensorRef reflectors = copy_columns(self), factors = contiguous(input2);
  const int64_t m = rows(out), n = cols(out), k = input2.size(-1);
  if (out.numel() == 0 || k == 0) return;
  visit_matrix(out.dtype(), [&]<class T>() {
    static const auto multiply = routine<T, int (*)(int, char, char, int, int, int, const T*, int, const T*, T*, int)>(
        kComplex<T> ? "unmqr" : "ormqr");
    const char trans = !transpose ? 'N' : kComplex<T> ? 'C' : 'T';
    parallel_for(0, batches(out), grain(k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        multiply(blas::kColMajor, left ? 'L' : 'R', trans, int(m), int(n), int(k), matrix_at<T>(*reflectors, i),
                 leading(rows(self)), factors->template data<T>() + i * k, matrix_at<T>(out, i), leading(m));
    });
  });
}

// ---- LDL

void linalg_ldl_factor_ex(Tensor& self, bool hermitian, bool check_errors, Tensor& LD, Tensor& pivots, Tensor& info) {
  copy_into(LD, self);
  const int64_t n = rows(LD);
  visit_matrix(LD.dtype(), [&]<class T>() {
    using Factor = int (*)(int, char, int, T*, int, int*);
    const auto factor = routine<T, Factor>(kComplex<T> && hermitian ? "hetrf" : "sytrf");
    parallel_for(0, batches(LD), grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* a = matrix_at<T>(LD, i);
        info.data<int32_t>()[i] =
            n ? factor(blas::kColMajor, 'L', int(n), a, leading(n), pivots.data<int32_t>() + i * n) : 0;
        for (int64_t col = 0; col < n; ++col) std::fill_n(a + col * n, col, T{});
      }
    });
  });
  if (check_errors)
    check_info(info, "torch.linalg.ldl_factor_ex", [](int code) {
      return str("D[", code, ",", code, "] is zero, and using it in ldl_solve would divide by it");
    });
}

void linalg_ldl_solve(Tensor& LD, Tensor& pivots, Tensor& B, bool hermitian, Tensor& out) {
  copy_into(out, B);
  const TensorRef factors = copy_columns(LD), order = empty(pivots.sizes(), DType::Int32);
  copy_into(*order, pivots);
  const int64_t n = rows(LD), k = cols(B);
  if (out.numel() == 0) return;
  for (int64_t i = 0; i < order->numel(); ++i)
    if (const int at = order->data<int32_t>()[i]; at == 0 || std::abs(int64_t(at)) > n)
      fail("torch.linalg.ldl_solve: pivots are between 1 and ", n, " in size, but found ", at);
  visit_matrix(out.dtype(), [&]<class T>() {
    using Solve = int (*)(int, char, int, int, const T*, int, const int*, T*, int);
    const auto solve = routine<T, Solve>(kComplex<T> && hermitian ? "hetrs" : "sytrs");
    parallel_for(0, batches(out), grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        solve(blas::kColMajor, 'L', int(n), int(k), matrix_at<T>(*factors, i), leading(n),
              order->data<int32_t>() + i * n, matrix_at<T>(out, i), leading(n));
    });
  });
}

// ---- least squares

namespace {

/// LAPACK's drivers for one problem; b holds the right sides and then the solution. Returns LAPACK's code.
template <class T>
struct LeastSquares {
  using R = Real<T>;
  std::string_view driver;
  R rcond;
  int (*gels)(int, char, int, int, int, T*, int, T*, int);
  int (*gelsy)(int, int, int, int, T*, int, T*, int, int*, R, int*);
  int (*gels_values)(int, int, int, int, T*, int, T*, int, R*, R, int*);  // gelsd, gelss

  explicit LeastSquares(std::string_view name, double limit) : driver(name), rcond(R(limit)) {
    gels = routine<T, decltype(gels)>("gels");
    gelsy = routine<T, decltype(gelsy)>("gelsy");
    gels_values = routine<T, decltype(gels_values)>(driver == "gelss" ? "gelss" : "gelsd");
  }

  int solve(int m, int n, int k, T* a, T* b, R* values, int* rank) const {
    const int lda = leading(m), ldb = leading(std::max(m, n));
    if (driver == "gels") return gels(blas::kColMajor, 'N', m, n, k, a, lda, b, ldb);
    if (driver != "gelsy") return gels_values(blas::kColMajor, m, n, k, a, lda, b, ldb, values, rcond, rank);
    std::vector<int> free_columns(size_t(n), 0);
    return gelsy(blas::kColMajor, m, n, k, a, lda, b, ldb, free_columns.data(), rcond, rank);
  }
};

}  // namespace

void linalg_lstsq(Tensor& A, Tensor& B, double rcond, std::string_view driver, Tensor& X, Tensor& rank,
                  Tensor& values) {
  fill_into(X, Scalar(0));
  fill_into(rank, Scalar(0));
  fill_into(values, Scalar(0));
  const TensorRef a = copy_columns(A), b = copy_columns(B);
  const int64_t m = rows(A), n = cols(A), k = cols(B), height = std::max(m, n), small = std::min(m, n);
  if (small == 0 || k == 0) return;
  const bool iterates = driver == "gelsd" || driver == "gelss";
  if (iterates && !(all_finite(*a) && all_finite(*b)))
    raise(ErrorKind::LinAlg,
          "torch.linalg.lstsq: The algorithm failed to converge because the input contained "
          "non-finite values.");
  std::vector<int> codes(size_t(batches(A)), 0);
  visit_matrix(A.dtype(), [&]<class T>() {
    const LeastSquares<T> problem(driver, rcond);
    parallel_for(0, batches(A), grain(small), [&](int64_t begin, int64_t end) {
      std::vector<T> sides(size_t(height * k), T{});
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < k; ++j) std::copy_n(matrix_at<T>(*b, i) + j * m, m, sides.data() + j * height);
        int found = 0;
        Real<T>* s = iterates ? values.data<Real<T>>() + i * small : nullptr;
        codes[size_t(i)] = problem.solve(int(m), int(n), int(k), matrix_at<T>(*a, i), sides.data(), s, &found);
        if (rank.numel()) rank.data<int64_t>()[i] = found;
        for (int64_t j = 0; j < k; ++j) std::copy_n(sides.data() + j * height, n, matrix_at<T>(X, i) + j * n);
      }
    });
  });
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i] != 0)
      raise(ErrorKind::LinAlg,
            str("torch.linalg.lstsq: ", A.dim() > 2 ? str("(Batch element ", int64_t(i), "): ") : std::string(),
                iterates ? "The algorithm failed to converge"
                         : "The least squares solution could not be computed because the input matrix does not have "
                           "full rank",
                " (error code: ", codes[i], ")."));
}

}  // namespace kernels
}  // namespace vivace

// QR, singular values and eigenvalues by LAPACK.
#include <algorithm>
#include <vector>

#include "generated/kernels/linalg/spectral.h"
#include "runtime/kernels/lapack.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using namespace lapack;

namespace {

/// Matrices that are worth a thread; these decompositions cost some 10 n^3.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 10000 / std::max<int64_t>(n * n * n, 1)); }

/// The vectors of a matrix without elements.
template <class T>
void set_identity(T* p, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i) p[i] = T{};
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kComplex<T>)
      p[i * n + i] = T{1, 0};
    else
      p[i * n + i] = 1;
  }
}

char triangle(std::string_view UPLO) {
  if (UPLO != "L" && UPLO != "U" && UPLO != "l" && UPLO != "u")
    fail("Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  return UPLO == "L" || UPLO == "l" ? 'L' : 'U';
}

void check_codes(const std::vector<int>& codes, bool batched, const char* name, const char* reason) {
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i] != 0)
      raise(ErrorKind::LinAlg, str(name, ": ", batched ? str("(Batch element ", int64_t(i), "): ") : std::string(),
                                   reason, " (error code: ", codes[i], ")."));
}

[[noreturn]] void refuse_infinite(const char* name) {
  raise(ErrorKind::LinAlg,
        str(name, ": The algorithm failed to converge because the input matrix contained non-finite values."));
}

}  // namespace

namespace meta {

std::tuple<TensorRef, TensorRef> linalg_qr(Tensor& A, std::string_view mode) {
  check_matrices(A, "linalg.qr");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    fail("qr received unrecognized mode '", mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = rows(A), n = cols(A), k = mode == "complete" ? m : std::min(m, n);
  const Dims q = mode == "r" ? Dims{0} : extended(batch_sizes(A), {m, k});
  return {mode == "r" ? empty(q, A.dtype(), A.device()) : empty_columns(q, A.dtype(), A.device()),
          empty_columns(extended(batch_sizes(A), {k, n}), A.dtype(), A.device())};
}

std::tuple<TensorRef, TensorRef, TensorRef> linalg_svd(Tensor& A, bool full_matrices, bool vectors) {
  check_matrices(A, "linalg.svd");
  const int64_t m = rows(A), n = cols(A), k = std::min(m, n);
  const IntList batch = batch_sizes(A);
  TensorRef S = empty(extended(batch, {k}), real_of(A.dtype()), A.device());
  if (!vectors) return {empty({0}, A.dtype(), A.device()), std::move(S), empty({0}, A.dtype(), A.device())};
  return {empty_columns(extended(batch, {m, full_matrices ? m : k}), A.dtype(), A.device()), std::move(S),
          empty_columns(extended(batch, {full_matrices ? n : k, n}), A.dtype(), A.device())};
}

std::tuple<TensorRef, TensorRef> linalg_eigh(Tensor& A, std::string_view UPLO, bool vectors) {
  check_square(A, "linalg.eigh");
  triangle(UPLO);
  return {empty(A.sizes().first(size_t(A.dim() - 1)), real_of(A.dtype()), A.device()),
          vectors ? empty_columns(A.sizes(), A.dtype(), A.device()) : empty({0}, A.dtype(), A.device())};
}

std::tuple<TensorRef, TensorRef> linalg_eig(Tensor& A, bool vectors) {
  check_square(A, "linalg.eig");
  const DType dtype = complex_of(A.dtype());
  return {empty(A.sizes().first(size_t(A.dim() - 1)), dtype, A.device()),
          vectors ? empty_columns(A.sizes(), dtype, A.device()) : empty({0}, dtype, A.device())};
}

}  // namespace meta

namespace kernels {

void linalg_qr(Tensor& A, std::string_view mode, Tensor& Q, Tensor& R) {
  const TensorRef packed = copy_columns(A);
  const int64_t m = rows(A), n = cols(A), k = std::min(m, n), height = rows(R);
  const bool wants_q = mode != "r";
  const int64_t width = wants_q ? cols(Q) : 0;
  visit_matrix(A.dtype(), [&]<class T>() {
    static const auto factor = routine<T, int (*)(int, int, int, T*, int, T*)>("geqrf");
    static const auto expand =
        routine<T, int (*)(int, int, int, int, T*, int, const T*)>(kComplex<T> ? "ungqr" : "orgqr");
    parallel_for(0, batches(A), grain(k), [&](int64_t begin, int64_t end) {
      std::vector<T> tau(size_t(k), T{});
      for (int64_t i = begin; i < end; ++i) {
        T* a = matrix_at<T>(*packed, i);
        if (k) factor(blas::kColMajor, int(m), int(n), a, leading(m), tau.data());
        T* r = matrix_at<T>(R, i);
        for (int64_t col = 0; col < n; ++col)
          for (int64_t row = 0; row < height; ++row)
            r[col * height + row] = row <= col && row < m ? a[col * m + row] : T{};
        if (!wants_q || width == 0) continue;
        T* q = matrix_at<T>(Q, i);
        if (k == 0) {
          set_identity(q, m);
          continue;
        }
        std::copy_n(a, m * std::min(width, n), q);
        expand(blas::kColMajor, int(m), int(width), int(k), q, leading(m), tau.data());
      }
    });
  });
}

void linalg_svd(Tensor& A, bool full_matrices, bool vectors, Tensor& U, Tensor& S, Tensor& Vh) {
  const TensorRef a = copy_columns(A);
  if (!all_finite(*a)) refuse_infinite("linalg.svd");
  const int64_t m = rows(A), n = cols(A), k = std::min(m, n), batch = batches(A);
  std::vector<int> codes(size_t(batch), 0);
  visit_matrix(A.dtype(), [&]<class T>() {
    static const auto decompose =
        routine<T, int (*)(int, char, int, int, T*, int, Real<T>*, T*, int, T*, int)>("gesdd");
    parallel_for(0, batch, grain(k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* u = vectors ? matrix_at<T>(U, i) : nullptr;
        T* vh = vectors ? matrix_at<T>(Vh, i) : nullptr;
        if (k)
          codes[size_t(i)] = decompose(blas::kColMajor,
                                       !vectors        ? 'N'
                                       : full_matrices ? 'A'
                                                       : 'S',
                                       int(m), int(n), matrix_at<T>(*a, i), leading(m), S.data<Real<T>>() + i * k, u,
                                       leading(m), vh, vectors ? leading(rows(Vh)) : 1);
        else if (vectors && full_matrices) {
          set_identity(u, m);
          set_identity(vh, n);
        }
      }
    });
  });
  check_codes(codes, A.dim() > 2, "linalg.svd",
              "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
              "singular values");
}

void linalg_eigh(Tensor& A, std::string_view UPLO, bool vectors, Tensor& values, Tensor& out) {
  const TensorRef a = vectors ? TensorRef::share(&out) : empty_columns(A.sizes(), A.dtype());
  copy_into(*a, A);
  if (!all_finite(*a)) refuse_infinite("linalg.eigh");
  const int64_t n = rows(A), batch = batches(A);
  const char uplo = triangle(UPLO);
  std::vector<int> codes(size_t(batch), 0);
  visit_matrix(A.dtype(), [&]<class T>() {
    static const auto decompose =
        routine<T, int (*)(int, char, char, int, T*, int, Real<T>*)>(kComplex<T> ? "heevd" : "syevd");
    parallel_for(0, batch, grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (n)
          codes[size_t(i)] = decompose(blas::kColMajor, vectors ? 'V' : 'N', uplo, int(n), matrix_at<T>(*a, i),
                                       leading(n), values.data<Real<T>>() + i * n);
    });
  });
  check_codes(codes, A.dim() > 2, "linalg.eigh",
              "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
              "eigenvalues");
}

namespace {

/// LAPACK gives a real matrix's complex vectors as pairs of columns: real parts, imaginary parts.
template <class T>
void unpack_pairs(const T* re, const T* im, const T* packed, int64_t n, Complex<T>* values, Complex<T>* vectors) {
  for (int64_t j = 0; j < n; ++j) values[j] = {re[j], im[j]};
  if (!vectors) return;
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = im[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const T x = packed[j * n + i], y = pair ? packed[(j + 1) * n + i] : 0;
      vectors[j * n + i] = {x, y};
      if (pair) vectors[(j + 1) * n + i] = {x, -y};
    }
    if (pair) ++j;
  }
}

}  // namespace

void linalg_eig(Tensor& A, bool vectors, Tensor& values, Tensor& out) {
  const TensorRef a = copy_columns(A);
  const int64_t n = rows(A), batch = batches(A);
  if (n == 0) return;
  if (!all_finite(*a)) fail("torch.linalg.eig: input tensor should not contain infs or NaNs.");
  std::vector<int> codes(size_t(batch), 0);
  visit_matrix(A.dtype(), [&]<class T>() {
    using C = Complex<Real<T>>;
    const char wants = vectors ? 'V' : 'N';
    if constexpr (kComplex<T>) {
      static const auto decompose = routine<T, int (*)(int, char, char, int, T*, int, T*, T*, int, T*, int)>("geev");
      parallel_for(0, batch, grain(n), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          codes[size_t(i)] =
              decompose(blas::kColMajor, 'N', wants, int(n), matrix_at<T>(*a, i), leading(n), values.data<T>() + i * n,
                        nullptr, 1, vectors ? matrix_at<T>(out, i) : nullptr, leading(n));
      });
    } else {
      static const auto decompose =
          routine<T, int (*)(int, char, char, int, T*, int, T*, T*, T*, int, T*, int)>("geev");
      parallel_for(0, batch, grain(n), [&](int64_t begin, int64_t end) {
        std::vector<T> re(size_t(n), 0), im(size_t(n), 0), packed(size_t(vectors ? n * n : 0), 0);
        for (int64_t i = begin; i < end; ++i) {
          codes[size_t(i)] = decompose(blas::kColMajor, 'N', wants, int(n), matrix_at<T>(*a, i), leading(n), re.data(),
                                       im.data(), nullptr, 1, packed.data(), leading(n));
          unpack_pairs(re.data(), im.data(), packed.data(), n, values.data<C>() + i * n,
                       vectors ? matrix_at<C>(out, i) : nullptr);
        }
      });
    }
  });
  check_codes(codes, A.dim() > 2, "linalg.eig",
              "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
              "eigenvalues");
}

}  // namespace kernels
}  // namespace vivace

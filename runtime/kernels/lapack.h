// LAPACK's routines, found at their first use, and matrices laid out as it wants them: column after column.
// A routine is looked up with the GIL held (`getrf<T>()`); the pointer may then be called from any thread.
#pragma once
#include <string>

#include "runtime/core/tensor.h"
#include "runtime/kernels/blas.h"

namespace vivace::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kComplex = !std::is_same_v<T, Real<T>>;
template <class T>
inline constexpr char kLetter = std::is_same_v<T, float>            ? 's'
                                : std::is_same_v<T, double>         ? 'd'
                                : std::is_same_v<T, Complex<float>> ? 'c'
                                                                    : 'z';

/// The function LAPACKE_NAME.
void* find(const std::string& name);
/// LAPACKE_?NAME for element type T.
template <class T, class F>
F routine(const char* name) {
  return reinterpret_cast<F>(find(kLetter<T> + std::string(name)));
}

/// Calls f with the element type, which is one of LAPACK's four.
template <class F>
void visit_matrix(DType t, F&& f) {
  switch (t) {
    case DType::Float32:
      return f.template operator()<float>();
    case DType::Float64:
      return f.template operator()<double>();
    case DType::Complex64:
      return f.template operator()<Complex<float>>();
    default:
      return f.template operator()<Complex<double>>();
  }
}

inline int64_t rows(const Tensor& t) { return t.sizes()[t.dim() - 2]; }
inline int64_t cols(const Tensor& t) { return t.sizes()[t.dim() - 1]; }
inline IntList batch_sizes(const Tensor& t) { return t.sizes().first(size_t(t.dim() - 2)); }
inline int64_t batches(const Tensor& t) { return count(batch_sizes(t)); }

/// The sizes `batch` with more behind them.
inline Dims extended(IntList batch, std::initializer_list<int64_t> more) {
  Dims sizes(batch);
  for (int64_t n : more) sizes.push(n);
  return sizes;
}

/// Batches one after the other, each matrix column after column: what LAPACK reads and writes.
inline TensorRef empty_columns(IntList sizes, DType dtype, Device device = {}) {
  Dims strides = contiguous_strides(sizes);
  const int n = strides.size();
  strides[n - 2] = 1;
  strides[n - 1] = std::max<int64_t>(sizes[size_t(n - 2)], 1);
  return empty_strided(sizes, strides, dtype, device);
}
inline TensorRef copy_columns(const Tensor& t) {
  TensorRef out = empty_columns(t.sizes(), t.dtype(), t.device());
  copy_into(*out, t);
  return out;
}

/// Matrix i of a tensor laid out in columns.
template <class T>
T* matrix_at(const Tensor& t, int64_t i) {
  return t.data<T>() + i * rows(t) * cols(t);
}

/// LAPACK counts with int and wants leading dimensions of 1 at least.
inline int leading(int64_t n) { return int(n > 0 ? n : 1); }

/// Whether a tensor of one of LAPACK's dtypes, without gaps, holds neither infinities nor NaN. Iterations for singular
/// values and eigenvalues may neither end nor stay within their memory on others.
bool all_finite(const Tensor& t);
/// Throws unless t holds matrices of a dtype that LAPACK knows.
void check_matrices(const Tensor& t, const char* name, const char* argument = "A");
/// And they are square.
void check_square(const Tensor& t, const char* name, const char* argument = "A");
/// LinAlgError that names the batch element, if any of `info` (contiguous int32) is not 0. `reason(code)` ends the
/// text.
template <class F>
void check_info(const Tensor& info, const char* name, F&& reason) {
  for (int64_t i = 0; i < info.numel(); ++i)
    if (const int code = info.data<int32_t>()[i])
      raise(ErrorKind::LinAlg,
            str(name, ": ", info.dim() ? str("(Batch element ", i, "): ") : std::string(), reason(code)));
}

}  // namespace vivace::lapack

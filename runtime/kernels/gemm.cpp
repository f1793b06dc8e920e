// gemm: chooses between our loops and OpenBLAS.
#include "runtime/kernels/gemm.h"

#include <memory>

#include "runtime/kernels/arith.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/isa/dense.h"

namespace vivace::kernels {
namespace {

/// Below this many multiplications a call of OpenBLAS costs more than it saves (measured: about 150 ns a call).
constexpr int64_t kSmall = 32 * 32 * 32;
/// Elements of a transposed right operand that are packed on the stack for the small kernel.
constexpr int64_t kPack = 4096;

/// How BLAS reads a matrix in row-major order; `packed` holds a copy if its strides don't fit.
template <class T>
struct BlasOperand {
  const T* data;
  int trans;
  int64_t ld;
  std::unique_ptr<T[]> packed;

  explicit BlasOperand(const Matrix& m) : data(reinterpret_cast<const T*>(m.data)) {
    const int64_t rs = m.row_stride, cs = m.col_stride;
    if ((cs == 1 || m.cols == 1) && (m.rows == 1 || rs >= std::max<int64_t>(m.cols, 1))) {
      trans = blas::kNoTrans;
      ld = m.rows == 1 ? std::max<int64_t>(m.cols, 1) : rs;
    } else if ((rs == 1 || m.rows == 1) && (m.cols == 1 || cs >= std::max<int64_t>(m.rows, 1))) {
      trans = blas::kTrans;
      ld = m.cols == 1 ? std::max<int64_t>(m.rows, 1) : cs;
    } else {
      packed.reset(new T[size_t(m.rows * m.cols)]);
      for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t j = 0; j < m.cols; ++j) packed[i * m.cols + j] = data[i * rs + j * cs];
      data = packed.get();
      trans = blas::kNoTrans;
      ld = m.cols;
    }
  }
};

template <class T>
void blas_gemm(const Matrix& a, const Matrix& b, const Matrix& c, T alpha, T beta) {
  const blas::Table& f = blas::table();
  const BlasOperand<T> x(a), y(b);
  T* out = reinterpret_cast<T*>(c.data);
  const int m = int(c.rows), n = int(c.cols), k = int(a.cols),
            ldc = int(std::max(c.rows == 1 ? c.cols : c.row_stride, int64_t(1)));
  const int lda = int(x.ld), ldb = int(y.ld);
  if constexpr (std::is_same_v<T, float>)
    f.sgemm(blas::kRowMajor, x.trans, y.trans, m, n, k, alpha, x.data, lda, y.data, ldb, beta, out, ldc);
  else if constexpr (std::is_same_v<T, double>)
    f.dgemm(blas::kRowMajor, x.trans, y.trans, m, n, k, alpha, x.data, lda, y.data, ldb, beta, out, ldc);
  else if constexpr (std::is_same_v<T, Complex<float>>)
    f.cgemm(blas::kRowMajor, x.trans, y.trans, m, n, k, &alpha, x.data, lda, y.data, ldb, &beta, out, ldc);
  else
    f.zgemm(blas::kRowMajor, x.trans, y.trans, m, n, k, &alpha, x.data, lda, y.data, ldb, &beta, out, ldc);
}

/// Row by row over all strides; Acc is wide enough for the sum.
template <class T, class Acc>
void loop_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Acc alpha, Acc beta) {
  const T* x = reinterpret_cast<const T*>(a.data);
  const T* y = reinterpret_cast<const T*>(b.data);
  T* out = reinterpret_cast<T*>(c.data);
  const bool keep = !is_zero(beta);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.cols; ++j) {
      Acc sum{};
      for (int64_t p = 0; p < a.cols; ++p)
        sum = add(sum, mul(widen<Acc>(x[i * a.row_stride + p * a.col_stride]),
                           widen<Acc>(y[p * b.row_stride + j * b.col_stride])));
      T& dst = out[i * c.row_stride + j * c.col_stride];
      sum = mul(alpha, sum);
      if (keep) sum = add(sum, mul(beta, widen<Acc>(dst)));
      dst = narrow<T>(sum);
    }
  }
}

template <class T>
void float_gemm(const Matrix& a, const Matrix& b, const Matrix& c, T alpha, T beta) {
  const int64_t work = c.rows * c.cols * a.cols;
  if (c.col_stride != 1 && c.cols > 1) {
    if (c.row_stride == 1 || c.rows == 1)
      return float_gemm<T>(b.transposed(), a.transposed(), c.transposed(), alpha, beta);
    return loop_gemm<T, T>(a, b, c, alpha, beta);
  }
  if (work > kSmall) return blas_gemm<T>(a, b, c, alpha, beta);
  const auto& small = dense::loops<T>();
  const T* y = reinterpret_cast<const T*>(b.data);
  const T* x = reinterpret_cast<const T*>(a.data);
  T* out = reinterpret_cast<T*>(c.data);
  if (b.col_stride == 1 || b.cols == 1)
    return small.gemm(c.rows, c.cols, a.cols, alpha, x, a.row_stride, a.col_stride, y, b.row_stride, beta, out,
                      c.row_stride);
  const int64_t rows = b.rows, cols = b.cols;
  if (rows * cols > kPack) return blas_gemm<T>(a, b, c, alpha, beta);
  T packed[kPack];
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t p = 0; p < rows; ++p) packed[p * cols + j] = y[p * b.row_stride + j * b.col_stride];
  small.gemm(c.rows, c.cols, a.cols, alpha, x, a.row_stride, a.col_stride, packed, cols, beta, out, c.row_stride);
}

template <class T>
void complex_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Complex<T> alpha, Complex<T> beta) {
  const bool rows_contiguous = c.col_stride == 1 || c.cols == 1;
  if (rows_contiguous && c.rows * c.cols * a.cols > 512) return blas_gemm<Complex<T>>(a, b, c, alpha, beta);
  loop_gemm<Complex<T>, Complex<T>>(a, b, c, alpha, beta);
}

/// Half types: operands are widened once, the sums are made in float, and the result is rounded once.
template <class T>
void half_gemm(const Matrix& a, const Matrix& b, const Matrix& c, float alpha, float beta) {
  const auto widened = [](const Matrix& m, std::unique_ptr<float[]>& buffer) -> Matrix {
    buffer.reset(new float[size_t(m.rows * m.cols) + 1]);
    const T* p = reinterpret_cast<const T*>(m.data);
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = 0; j < m.cols; ++j) buffer[i * m.cols + j] = to_float(p[i * m.row_stride + j * m.col_stride]);
    return {reinterpret_cast<char*>(buffer.get()), m.rows, m.cols, m.cols, 1};
  };
  std::unique_ptr<float[]> x, y, z;
  const Matrix wide_a = widened(a, x), wide_b = widened(b, y), wide_c = widened(c, z);
  float_gemm<float>(wide_a, wide_b, wide_c, alpha, beta);
  T* out = reinterpret_cast<T*>(c.data);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) out[i * c.row_stride + j * c.col_stride] = narrow<T>(z[i * c.cols + j]);
}

}  // namespace

void gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const Scalar& alpha, const Scalar& beta) {
  if (c.rows == 0 || c.cols == 0) return;
  switch (dtype) {
    case DType::Float32:
      return float_gemm<float>(a, b, c, float(alpha.to_double()), float(beta.to_double()));
    case DType::Float64:
      return float_gemm<double>(a, b, c, alpha.to_double(), beta.to_double());
    case DType::Complex64:
      return complex_gemm<float>(a, b, c, {float(alpha.to_double()), float(alpha.imag)},
                                 {float(beta.to_double()), float(beta.imag)});
    case DType::Complex128:
      return complex_gemm<double>(a, b, c, {alpha.to_double(), alpha.imag}, {beta.to_double(), beta.imag});
    case DType::Float16:
      return half_gemm<Half>(a, b, c, float(alpha.to_double()), float(beta.to_double()));
    case DType::BFloat16:
      return half_gemm<BFloat16>(a, b, c, float(alpha.to_double()), float(beta.to_double()));
    case DType::Bool:
      return loop_gemm<bool, uint64_t>(a, b, c, uint64_t(alpha.to_int()), uint64_t(beta.to_int()));
    default:
      break;
  }
  // Unsigned sums wrap as two's complement does, for signed elements, too.
  visit_bits(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      loop_gemm<T, uint64_t>(a, b, c, uint64_t(alpha.to_int()), uint64_t(beta.to_int()));
  });
}

}  // namespace vivace::kernels

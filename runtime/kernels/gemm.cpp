// gemm: chooses between our loops and OpenBLAS.
#include "runtime/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/kernels/arith.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/isa/integer.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/parallel/parallel.h"

namespace vivace::kernels {
namespace {

/// Below this many multiplications a call of OpenBLAS costs more than it saves (measured: about 150 ns a call).
constexpr int64_t kSmall = 64 * 64 * 64;
/// Elements of a transposed right operand that are packed on the stack for the small kernel.
constexpr int64_t kPack = 4096;
/// Up to so many rows, products with contiguous columns are dot products: packing the columns would cost more.
constexpr int64_t kDotRows = 32;
/// Below it, integers are multiplied where they lie.
constexpr int64_t kTinyInteger = 64;

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
      packed = scratch<T>(m.rows * m.cols);
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

/// `bias`: takes the place of c as what is added, if not null; c's rows are contiguous then.
template <class T>
void float_gemm(const Matrix& a, const Matrix& b, const Matrix& c, T alpha, T beta, const T* bias = nullptr) {
  const int64_t work = c.rows * c.cols * a.cols;
  if (c.col_stride != 1 && c.cols > 1) {
    if (c.row_stride == 1 || c.rows == 1)
      return float_gemm<T>(b.transposed(), a.transposed(), c.transposed(), alpha, beta);
    return loop_gemm<T, T>(a, b, c, alpha, beta);
  }
  const T* x = reinterpret_cast<const T*>(a.data);
  const T* y = reinterpret_cast<const T*>(b.data);
  T* out = reinterpret_cast<T*>(c.data);
  // A row that is multiplied from the right by contiguous rows: the transposed product is made of dot products.
  // And a column that contiguous columns are multiplied with, made of rows.
  if (c.cols == 1 && c.rows > 1 && c.row_stride == 1 &&
      (a.row_stride == 1 || (a.col_stride == 1 && b.row_stride == 1))) {
    if (bias) std::fill_n(out, c.rows, *bias);
    return float_gemm<T>(b.transposed(), a.transposed(), c.transposed(), alpha, bias ? T(1) : beta);
  }
  if (a.col_stride == 1 && b.row_stride == 1 && c.rows <= kDotRows && 4 * c.rows <= a.cols + 4)
    return dense::loops<T>().gemm_dots(c.rows, c.cols, a.cols, alpha, x, a.row_stride, y, b.col_stride,
                                       bias ? T(1) : beta, bias ? bias : out, bias ? 0 : c.row_stride, out,
                                       c.row_stride);
  const bool packs = b.col_stride != 1 && b.cols != 1;
  if (work > kSmall || (packs && b.rows * b.cols > kPack)) {
    if (bias)
      for (int64_t i = 0; i < c.rows; ++i) std::copy_n(bias, c.cols, reinterpret_cast<T*>(c.data) + i * c.row_stride);
    return blas_gemm<T>(a, b, c, alpha, bias ? T(1) : beta);
  }
  const auto run = [&](const T* right, int64_t right_rows) {
    dense::loops<T>().gemm(c.rows, c.cols, a.cols, alpha, x, a.row_stride, a.col_stride, right, right_rows,
                           bias ? T(1) : beta, bias ? bias : out, bias ? 0 : c.row_stride, out, c.row_stride);
  };
  if (!packs) return run(y, b.row_stride);
  T packed[kPack];
  if (b.row_stride == 1) {
    const auto transpose = sizeof(T) == 4 ? move_loops().transpose4 : move_loops().transpose8;
    transpose(reinterpret_cast<char*>(packed), b.cols * int64_t(sizeof(T)), b.data, b.col_stride * int64_t(sizeof(T)),
              b.cols, b.rows);
  } else {
    for (int64_t j = 0; j < b.cols; ++j)
      for (int64_t p = 0; p < b.rows; ++p) packed[p * b.cols + j] = y[p * b.row_stride + j * b.col_stride];
  }
  run(packed, b.cols);
}

template <class T>
void complex_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Complex<T> alpha, Complex<T> beta) {
  const bool rows_contiguous = c.col_stride == 1 || c.cols == 1;
  if (rows_contiguous && c.rows * c.cols * a.cols > 512) return blas_gemm<Complex<T>>(a, b, c, alpha, beta);
  loop_gemm<Complex<T>, Complex<T>>(a, b, c, alpha, beta);
}

/// `m` in type T with contiguous rows; `buffer` holds a copy if it is something else.
template <class T>
const T* row_major(DType dtype, const Matrix& m, int64_t& rows, std::unique_ptr<T[]>& buffer) {
  rows = m.row_stride;
  if (item_size(dtype) == sizeof(T) && (m.col_stride == 1 || m.cols == 1)) return reinterpret_cast<const T*>(m.data);
  const int64_t size = int64_t(item_size(dtype));
  buffer = scratch<T>(m.rows * m.cols + 1);
  rows = m.cols;
  const auto turn = sizeof(T) == 4 ? move_loops().transpose4 : move_loops().transpose8;
  if (size == int64_t(sizeof(T)) && m.row_stride == 1) {
    turn(reinterpret_cast<char*>(buffer.get()), rows * size, m.data, m.col_stride * size, m.cols, m.rows);
    return buffer.get();
  }
  constexpr DType kWide = sizeof(T) == 4 ? DType::Int32 : DType::Int64;
  for (int64_t i = 0; i < m.rows; ++i)
    convert_run(kWide, reinterpret_cast<char*>(buffer.get() + i * rows), sizeof(T), dtype,
                m.data + i * m.row_stride * size, m.col_stride * size, m.cols);
  return buffer.get();
}

/// In T, which is as wide as the elements at least: what wraps around there is the same in their last bits.
template <class T>
void integer_gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, T alpha, T beta) {
  std::unique_ptr<T[]> x, y, z;
  int64_t x_rows, y_rows, z_rows;
  const T *left = row_major(dtype, a, x_rows, x), *right = row_major(dtype, b, y_rows, y);
  T* out = const_cast<T*>(row_major(dtype, c, z_rows, z));
  dense::integer_loops<T>().gemm(c.rows, c.cols, a.cols, alpha, left, x_rows, 1, right, y_rows, beta, out, z_rows, out,
                                 z_rows);
  if (!z) return;
  const int64_t size = int64_t(item_size(dtype));
  for (int64_t i = 0; i < c.rows; ++i)
    convert_run(dtype, c.data + i * c.row_stride * size, c.col_stride * size,
                sizeof(T) == 4 ? DType::Int32 : DType::Int64, reinterpret_cast<const char*>(out + i * z_rows),
                sizeof(T), c.cols);
}

Matrix rows_of(const Matrix& m, size_t item, int64_t first, int64_t n) {
  return {m.data + first * m.row_stride * int64_t(item), n, m.cols, m.row_stride, m.col_stride};
}

/// f(a, b, c, first column) on parts of rows or columns of c, on several threads where the work is worth it.
template <class F>
void in_parts(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, F&& f) {
  constexpr int64_t kPart = 16;  // rows or columns
  const int64_t work = c.rows * c.cols * a.cols;
  if (work < 2 * kThreadWork || get_num_threads() == 1 || in_parallel_region()) return f(a, b, c, 0);
  const int64_t longer = std::max(c.rows, c.cols), part_work = work / longer * kPart;
  blas::table();  // loading needs the GIL, which a region may let go of
  const size_t item = item_size(dtype);
  parallel_for(0, (longer + kPart - 1) / kPart, std::max<int64_t>(1, kThreadWork / part_work),
               [&](int64_t begin, int64_t end) {
                 const int64_t first = begin * kPart, n = std::min(longer, end * kPart) - first;
                 if (c.rows == longer) return f(rows_of(a, item, first, n), b, rows_of(c, item, first, n), 0);
                 f(a, rows_of(b.transposed(), item, first, n).transposed(),
                   rows_of(c.transposed(), item, first, n).transposed(), first);
               });
}

void whole_gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const Scalar& alpha,
                const Scalar& beta) {
  switch (dtype) {
    case DType::Float32:
      return float_gemm<float>(a, b, c, float(alpha.to_double()), float(beta.to_double()));
    case DType::Float64:
      return float_gemm<double>(a, b, c, alpha.to_double(), beta.to_double());
    case DType::Complex64:
      return complex_gemm<float>(a, b, c, {float(alpha.to_double()), float(alpha.imag_part())},
                                 {float(beta.to_double()), float(beta.imag_part())});
    case DType::Complex128:
      return complex_gemm<double>(a, b, c, {alpha.to_double(), alpha.imag_part()},
                                  {beta.to_double(), beta.imag_part()});
    case DType::Float16:
    case DType::BFloat16:
      return half_gemm(dtype, a, b, c, float(alpha.to_double()), float(beta.to_double()));
    case DType::Bool:
      return loop_gemm<bool, uint64_t>(a, b, c, uint64_t(alpha.to_int()), uint64_t(beta.to_int()));
    default:
      break;
  }
  if (c.cols > 1 && c.rows * c.cols * a.cols >= kTinyInteger) {
    if (item_size(dtype) == 8) return integer_gemm<int64_t>(dtype, a, b, c, alpha.to_int(), beta.to_int());
    return integer_gemm<int32_t>(dtype, a, b, c, int32_t(alpha.to_int()), int32_t(beta.to_int()));
  }
  // Unsigned sums wrap as two's complement does, for signed elements, too.
  visit_bits(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      loop_gemm<T, uint64_t>(a, b, c, uint64_t(alpha.to_int()), uint64_t(beta.to_int()));
  });
}

}  // namespace

void gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const Scalar& alpha, const Scalar& beta) {
  if (c.rows == 0 || c.cols == 0) return;
  in_parts(dtype, a, b, c, [&](const Matrix& x, const Matrix& y, const Matrix& z, int64_t) {
    whole_gemm(dtype, x, y, z, alpha, beta);
  });
}

void gemm_bias(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias) {
  if (c.rows == 0 || c.cols == 0) return;
  if (dtype == DType::Float32 || dtype == DType::Float64)
    return in_parts(dtype, a, b, c, [&](const Matrix& x, const Matrix& y, const Matrix& z, int64_t column) {
      if (dtype == DType::Float32)
        float_gemm<float>(x, y, z, 1, 0, reinterpret_cast<const float*>(bias) + column);
      else
        float_gemm<double>(x, y, z, 1, 0, reinterpret_cast<const double*>(bias) + column);
    });
  const size_t item = item_size(dtype), row = size_t(c.cols) * item;
  for (int64_t i = 0; i < c.rows; ++i) std::memcpy(c.data + size_t(i * c.row_stride) * item, bias, row);
  gemm(dtype, a, b, c, Scalar(1), Scalar(1));
}

}  // namespace vivace::kernels

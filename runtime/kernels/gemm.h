// Products of matrices inside tensors, for every dtype: tiny ones by loops of our own, large ones by OpenBLAS.
// Strides are free: a transposed operand becomes a flag, and only what BLAS can't express is copied.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Multiplications that are worth a thread.
inline constexpr int64_t kThreadWork = 1 << 19;

/// Element (i, j) stands at data + (i * row_stride + j * col_stride) elements.
struct Matrix {
  char* data;
  int64_t rows, cols, row_stride, col_stride;
  Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

/// c = alpha * (a @ b) + beta * c; c is not read where beta is 0. All three have the dtype.
void gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const Scalar& alpha = Scalar(1),
          const Scalar& beta = Scalar(0));

/// c = a @ b + bias, one contiguous element of bias per column.
void gemm_bias(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias);

/// gemm of Float16 or BFloat16, on this thread.
void half_gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, float alpha, float beta);

/// The matrix of t's last two dims, `offset` elements from its start.
inline Matrix matrix(const Tensor& t, int64_t offset = 0) {
  const int64_t n = t.dim();
  return {t.raw() + offset * int64_t(t.item_size()), t.sizes()[n - 2], t.sizes()[n - 1], t.strides()[n - 2],
          t.strides()[n - 1]};
}

}  // namespace vivace::kernels

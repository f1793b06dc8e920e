// Hot loops over contiguous rows that are compiled once per instruction set: small products, softmax, norms, optimizer
// steps. This header is plain C++ for both sides: the files per set fill a DenseLoops each, `loops<T>()` picks one at
// the first use.
#pragma once
#include <cstdint>

namespace vivace::dense {

/// What one step of Adam needs to know, beside the arrays.
struct AdamStep {
  double beta1, beta2, eps, weight_decay;
  double step_size;        // lr / (1 - beta1^t)
  double root_correction;  // sqrt(1 - beta2^t)
  double decay;            // 1 - lr * weight_decay of AdamW, else 1
  bool maximize;
};

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;  // first: the momentum buffer is empty yet
};

template <class T>
struct DenseLoops {
  /// c = alpha * a @ b + beta * added; a strided, rows of the others contiguous. `added` (c itself, or rows 0 apart for
  /// a bias) is not read where beta is 0.
  void (*gemm)(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_rows, int64_t a_cols, const T* b,
               int64_t b_rows, T beta, const T* added, int64_t added_rows, T* c, int64_t c_rows);
  /// The same where a's rows and b's columns are contiguous.
  void (*gemm_dots)(int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t a_rows, const T* b, int64_t b_cols,
                    T beta, const T* added, int64_t added_rows, T* c, int64_t c_rows);
  T (*dot)(const T* a, const T* b, int64_t n);
  void (*softmax)(const T* x, T* y, int64_t rows, int64_t n);
  void (*log_softmax)(const T* x, T* y, int64_t rows, int64_t n);
  /// From the gradient and the result to the gradient of the argument.
  void (*softmax_backward)(const T* g, const T* y, T* out, int64_t rows, int64_t n);
  void (*log_softmax_backward)(const T* g, const T* y, T* out, int64_t rows, int64_t n);
  /// The four along columns: n rows, `step` elements apart, of so many columns.
  void (*softmax_columns)(const T* x, T* y, int64_t n, int64_t step, int64_t columns);
  void (*log_softmax_columns)(const T* x, T* y, int64_t n, int64_t step, int64_t columns);
  void (*softmax_backward_columns)(const T* g, const T* y, T* out, int64_t n, int64_t step, int64_t columns);
  void (*log_softmax_backward_columns)(const T* g, const T* y, T* out, int64_t n, int64_t step, int64_t columns);
  /// log(sum(exp(x))) of each row.
  void (*logsumexp)(const T* x, T* out, int64_t rows, int64_t n);
  /// out = exp(x - shift) * scale; the sum of the results.
  T (*exp_scaled)(const T* x, T* out, int64_t n, T shift, T scale);
  T (*max)(const T* x, int64_t n);
  /// Mean and 1 / sqrt(variance + eps) of each row.
  void (*moments)(const T* x, T* mean, T* rstd, int64_t rows, int64_t n, T eps);
  /// y = (x - mean) * rstd * weight + bias; weight and bias may be null.
  void (*normalize)(const T* x, const T* mean, const T* rstd, const T* weight, const T* bias, T* y, int64_t rows,
                    int64_t n);
  /// Gradient of the argument of normalize with mean and rstd from moments.
  void (*normalize_backward)(const T* g, const T* x, const T* mean, const T* rstd, const T* weight, T* out,
                             int64_t rows, int64_t n);
  /// weight_grad += g * (x - mean) * rstd and bias_grad += g over the rows; either may be null.
  void (*affine_backward)(const T* g, const T* x, const T* mean, const T* rstd, T* weight_grad, T* bias_grad,
                          int64_t rows, int64_t n);
  /// Sums, the blocks of which are added in double: x; (x - mean)^2; g * (x - mean).
  double (*sum)(const T* x, int64_t n);
  double (*sum_squares)(const T* x, int64_t n, T mean);
  double (*sum_products)(const T* g, const T* x, int64_t n, T mean);
  /// out = a * g + b * x + c
  void (*combine)(const T* g, const T* x, T* out, int64_t n, T a, T b, T c);
  /// y = x * scale + shift
  void (*scale_shift)(const T* x, T* y, int64_t n, T scale, T shift);
  /// The five along columns: rows are `step` elements apart. sums[c] += what each row adds to it.
  void (*column_sums)(const T* x, int64_t rows, int64_t step, int64_t columns, double* sums);
  void (*column_squares)(const T* x, int64_t rows, int64_t step, int64_t columns, const T* mean, double* sums);
  void (*column_products)(const T* g, const T* x, int64_t rows, int64_t step, int64_t columns, const T* mean,
                          double* sums);
  void (*combine_columns)(const T* g, const T* x, T* out, int64_t rows, int64_t step, int64_t columns, const T* a,
                          const T* b, const T* c);
  void (*scale_shift_columns)(const T* x, T* y, int64_t rows, int64_t step, int64_t columns, const T* scale,
                              const T* shift);
  /// y += x
  void (*accumulate)(const T* x, T* y, int64_t n);
  /// max_square: null without amsgrad.
  void (*adam)(const AdamStep& s, T* param, const T* grad, T* average, T* square, T* max_square, int64_t n);
  /// buffer: null without momentum.
  void (*sgd)(const SgdStep& s, T* param, const T* grad, T* buffer, int64_t n);
};

template <class T>
const DenseLoops<T>& loops();

}  // namespace vivace::dense

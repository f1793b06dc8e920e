// layer_norm over the last dims, and its gradient. Mean and deviation are computed again in backward: cheaper than two
// more results.
#include "generated/kernels/nn/norm.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/norm.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kBlock = 32;  // rows whose moments are on the stack at once

void check_affine(const char* op, const char* name, const Tensor* t, IntList shape, DType dtype) {
  if (!t) return;
  if (!std::equal(t->sizes().begin(), t->sizes().end(), shape.begin(), shape.end())) [[unlikely]]
    fail(op, ": Expected ", name, " to be of same shape as normalized_shape, but got ", name, " of shape ", t->sizes(),
         " and normalized_shape = ", shape);
  if (!is_floating(t->dtype()) || (t->dtype() != dtype && !is_half(dtype))) [[unlikely]]
    fail(op, ": expected ", name, " of dtype ", dtype, ", but got ", t->dtype());
}

struct Rows {
  int64_t rows, n;
};

Rows split(const Tensor& input, IntList shape) {
  const int64_t n = count(shape);
  return {n ? input.numel() / n : 0, n};
}

}  // namespace

namespace kernels {

void check_normalized_shape(const char* op, const Tensor& input, IntList shape) {
  if (shape.empty())
    fail(op,
         ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
         "normalized_shape = []");
  const IntList sizes = input.sizes();
  if (sizes.size() < shape.size() || !std::equal(shape.begin(), shape.end(), sizes.end() - shape.size())) [[unlikely]]
    fail(op, ": Given normalized_shape=", shape, ", expected input with shape [*, ", str(shape).substr(1),
         ", but got input of size ", sizes);
}

}  // namespace kernels

namespace meta {

TensorRef layer_norm(Tensor& input, IntList normalized_shape, Tensor* weight, Tensor* bias, double) {
  kernels::check_floating(input.dtype(), "LayerNormKernelImpl");
  kernels::check_normalized_shape("layer_norm", input, normalized_shape);
  check_affine("layer_norm", "weight", weight, normalized_shape, input.dtype());
  check_affine("layer_norm", "bias", bias, normalized_shape, input.dtype());
  return empty(input.sizes(), input.dtype(), input.device());
}

}  // namespace meta

namespace kernels {

void layer_norm(Tensor& input, IntList normalized_shape, Tensor* weight, Tensor* bias, double eps, Tensor& out) {
  const auto [rows, n] = split(input, normalized_shape);
  if (rows == 0) return;
  const DType compute = compute_of(input.dtype());
  TensorRef x = as_rows(input, input.dim(), compute), w = dense_in(weight, compute), b = dense_in(bias, compute);
  RowBuffer buffer(out, out.dim(), compute);
  visit_compute(input.dtype(), "layer_norm", [&, rows = rows, n = n]<class T>() {
    const auto& loops = dense::loops<T>();
    const T *in = x->data<T>(), *scale = data_or_null<T>(w), *shift = data_or_null<T>(b);
    T* result = buffer.rows().data<T>();
    parallel_for(0, rows, kGrain / n + 1, [=, &loops](int64_t begin, int64_t end) {
      T mean[kBlock], rstd[kBlock];
      for (int64_t i = begin; i < end; i += kBlock) {
        const int64_t m = std::min(kBlock, end - i);
        loops.moments(in + i * n, mean, rstd, m, n, T(eps));
        loops.normalize(in + i * n, mean, rstd, scale, shift, result + i * n, m, n);
      }
    });
  });
  buffer.finish();
}

std::tuple<TensorRef, TensorRef, TensorRef> layer_norm_grad(Tensor& g, Tensor& input, IntList normalized_shape,
                                                            Tensor* weight, double eps, Needs needs) {
  const auto [rows, n] = split(input, normalized_shape);
  const DType compute = compute_of(input.dtype());
  TensorRef x_grad, w_grad, b_grad;
  if (needs & 1) x_grad = empty(input.sizes(), compute);
  if (needs & 2) fill_into(*(w_grad = empty(normalized_shape, compute)), Scalar(0));
  if (needs & 4) fill_into(*(b_grad = empty(normalized_shape, compute)), Scalar(0));
  if (rows) {
    TensorRef grads = as_rows(g, g.dim(), compute), x = as_rows(input, input.dim(), compute),
              w = dense_in(weight, compute);
    visit_compute(input.dtype(), "layer_norm", [&, rows = rows, n = n]<class T>() {
      const auto& loops = dense::loops<T>();
      const T *dy = grads->data<T>(), *in = x->data<T>(), *scale = data_or_null<T>(w);
      T *dx = data_or_null<T>(x_grad), *dw = data_or_null<T>(w_grad), *db = data_or_null<T>(b_grad);
      const auto run = [=, &loops](int64_t begin, int64_t end) {
        T mean[kBlock], rstd[kBlock];
        for (int64_t i = begin; i < end; i += kBlock) {
          const int64_t m = std::min(kBlock, end - i);
          loops.moments(in + i * n, mean, rstd, m, n, T(eps));
          if (dx) loops.normalize_backward(dy + i * n, in + i * n, mean, rstd, scale, dx + i * n, m, n);
          if (dw || db) loops.affine_backward(dy + i * n, in + i * n, mean, rstd, dw, db, m, n);
        }
      };
      if (dw || db)
        run(0, rows);  // sums over all rows: one thread, so that the order of additions is fixed
      else
        parallel_for(0, rows, kGrain / n + 1, run);
    });
  }
  const auto typed = [&](TensorRef t) {
    return !t || t->dtype() == g.dtype() ? std::move(t) : to_dtype(*t, g.dtype());
  };
  return {typed(std::move(x_grad)), typed(std::move(w_grad)), typed(std::move(b_grad))};
}

}  // namespace kernels
}  // namespace vivace

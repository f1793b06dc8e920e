// softmax and log_softmax along a dim, and the gradients of both from their results.
#include "runtime/kernels/softmax.h"
#include "generated/kernels/nn/softmax.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

/// Elements below which rows stay on one thread.
constexpr int64_t kGrain = 32768;

TensorRef softmax_result(const char* op, Tensor& self, int64_t dim, std::optional<DType> dtype) {
  wrap_dim(dim, self.dim());
  const DType result = dtype.value_or(self.dtype());
  kernels::check_floating(result, op);
  return empty_like(self, result);
}

/// Calls loop(x, y, rows, n) for the rows of self along dim.
template <auto Member32, auto Member64>
void along(Tensor& self, int64_t dim, Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.dim() ? self.sizes()[dim] : 1;
  if (self.numel() == 0) return;
  const DType compute = compute_of(out.dtype());
  TensorRef x = kernels::as_rows(self, dim, compute);
  kernels::RowBuffer y(out, dim, compute);
  const int64_t rows = self.numel() / n;
  const auto run = [&]<class T>(auto loop) {
    const T* in = x->data<T>();
    T* result = y.rows().data<T>();
    if (self.numel() <= kGrain) return loop(in, result, rows, n);
    parallel_for(0, rows, kGrain / n + 1, [=](int64_t b, int64_t e) { loop(in + b * n, result + b * n, e - b, n); });
  };
  if (compute == DType::Float32)
    run.template operator()<float>(dense::loops<float>().*Member32);
  else
    run.template operator()<double>(dense::loops<double>().*Member64);
  y.finish();
}

template <auto Member32, auto Member64>
TensorRef backward_along(Tensor& g, Tensor& y, int64_t dim) {
  TensorRef out = empty_like(y);
  if (y.numel() == 0) return out;
  dim = wrap_dim(dim, y.dim());
  const int64_t n = y.dim() ? y.sizes()[dim] : 1, rows = y.numel() / n;
  const DType compute = compute_of(y.dtype());
  TensorRef grads = kernels::as_rows(g, dim, compute), results = kernels::as_rows(y, dim, compute);
  kernels::RowBuffer buffer(*out, dim, compute);
  const auto run = [&]<class T>(auto loop) {
    const T *a = grads->data<T>(), *b = results->data<T>();
    T* c = buffer.rows().data<T>();
    parallel_for(0, rows, kGrain / n + 1,
                 [=](int64_t i, int64_t e) { loop(a + i * n, b + i * n, c + i * n, e - i, n); });
  };
  if (compute == DType::Float32)
    run.template operator()<float>(dense::loops<float>().*Member32);
  else
    run.template operator()<double>(dense::loops<double>().*Member64);
  buffer.finish();
  return out;
}

using F32 = dense::DenseLoops<float>;
using F64 = dense::DenseLoops<double>;

}  // namespace

namespace meta {

TensorRef softmax(Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_result("softmax", self, dim, dtype);
}
TensorRef log_softmax(Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_result("log_softmax", self, dim, dtype);
}

}  // namespace meta

namespace kernels {

void softmax(Tensor& self, int64_t dim, std::optional<DType>, Tensor& out) {
  along<&F32::softmax, &F64::softmax>(self, dim, out);
}
void log_softmax(Tensor& self, int64_t dim, std::optional<DType>, Tensor& out) {
  along<&F32::log_softmax, &F64::log_softmax>(self, dim, out);
}

TensorRef softmax_grad(Tensor& g, Tensor& y, int64_t dim) {
  return backward_along<&F32::softmax_backward, &F64::softmax_backward>(g, y, dim);
}
TensorRef log_softmax_grad(Tensor& g, Tensor& y, int64_t dim) {
  return backward_along<&F32::log_softmax_backward, &F64::log_softmax_backward>(g, y, dim);
}

}  // namespace kernels
}  // namespace vivace

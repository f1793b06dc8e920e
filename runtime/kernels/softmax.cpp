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
  return empty(self.sizes(), result, self.device());
}

/// Contiguous tensors as n rows along dim of columns that are worth vectors.
struct Columns : kernels::Slabs {
  bool fit;

  Columns(DType compute, int64_t dim, std::initializer_list<const Tensor*> tensors)
      : Slabs((*tensors.begin())->sizes(), dim), fit(inner >= 8) {
    for (const Tensor* t : tensors) fit = fit && t->is_contiguous() && t->dtype() == compute;
  }
  /// f(offset of the first element, columns)
  template <class F>
  void each(F&& f) const {
    constexpr int64_t kColumns = 64;
    const int64_t pieces = (inner + kColumns - 1) / kColumns;
    parallel_for(0, outer * pieces, kGrain / (n * kColumns) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % pieces * kColumns;
        f(i / pieces * n * inner + column, std::min(kColumns, inner - column));
      }
    });
  }
};

using F32 = dense::DenseLoops<float>;
using F64 = dense::DenseLoops<double>;

/// The loops of one operator: of DenseLoops<float>, then of DenseLoops<double>.
template <auto kRows32, auto kRows64, auto kColumns32, auto kColumns64>
struct Loops {
  template <class T>
  static auto rows() {
    if constexpr (sizeof(T) == 4)
      return dense::loops<float>().*kRows32;
    else
      return dense::loops<double>().*kRows64;
  }
  template <class T>
  static auto columns() {
    if constexpr (sizeof(T) == 4)
      return dense::loops<float>().*kColumns32;
    else
      return dense::loops<double>().*kColumns64;
  }
};

/// Softmax of self along dim.
template <class L>
void along(const char* op, Tensor& self, int64_t dim, Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.dim() ? self.sizes()[dim] : 1;
  if (self.numel() == 0) return;
  const DType compute = compute_of(out.dtype());
  const Columns slabs(compute, dim, {&self, &out});
  if (slabs.fit)
    return kernels::visit_compute(compute, op, [&]<class T>() {
      slabs.each([&](int64_t at, int64_t columns) {
        L::template columns<T>()(self.data<T>() + at, out.data<T>() + at, slabs.n, slabs.inner, columns);
      });
    });
  if (compute != out.dtype() && dim + 1 < self.dim()) {  // half types: along columns as floats, too
    const TensorRef x = to_dtype(*contiguous(self), compute), y = empty(out.sizes(), compute);
    along<L>(op, *x, dim, *y);
    return copy_into(out, *y);
  }
  TensorRef x = kernels::as_rows(self, dim, compute);
  kernels::RowBuffer y(out, dim, compute);
  const int64_t rows = self.numel() / n;
  kernels::visit_compute(compute, op, [&]<class T>() {
    const T* in = x->data<T>();
    T* result = y.rows().data<T>();
    const auto loop = L::template rows<T>();
    if (self.numel() <= kGrain) return loop(in, result, rows, n);
    parallel_for(0, rows, kGrain / n + 1, [=](int64_t b, int64_t e) { loop(in + b * n, result + b * n, e - b, n); });
  });
  y.finish();
}

template <class L>
TensorRef backward_along(const char* op, Tensor& g, Tensor& y, int64_t dim) {
  TensorRef out = empty(y.sizes(), y.dtype());
  if (y.numel() == 0) return out;
  dim = wrap_dim(dim, y.dim());
  const int64_t n = y.dim() ? y.sizes()[dim] : 1, rows = y.numel() / n;
  const DType compute = compute_of(y.dtype());
  const Columns slabs(compute, dim, {&y, &g, out.get()});
  if (slabs.fit) {
    kernels::visit_compute(compute, op, [&]<class T>() {
      slabs.each([&](int64_t at, int64_t columns) {
        L::template columns<T>()(g.data<T>() + at, y.data<T>() + at, out->data<T>() + at, slabs.n, slabs.inner,
                                 columns);
      });
    });
    return out;
  }
  if (compute != y.dtype() && dim + 1 < y.dim())
    return to_dtype(*backward_along<L>(op, *to_dtype(*contiguous(g), compute), *to_dtype(*contiguous(y), compute), dim),
                    y.dtype());
  TensorRef grads = kernels::as_rows(g, dim, compute), results = kernels::as_rows(y, dim, compute);
  kernels::RowBuffer buffer(*out, dim, compute);
  kernels::visit_compute(compute, op, [&]<class T>() {
    const T *a = grads->data<T>(), *b = results->data<T>();
    T* c = buffer.rows().data<T>();
    const auto loop = L::template rows<T>();
    parallel_for(0, rows, kGrain / n + 1,
                 [=](int64_t i, int64_t e) { loop(a + i * n, b + i * n, c + i * n, e - i, n); });
  });
  buffer.finish();
  return out;
}

using Softmax = Loops<&F32::softmax, &F64::softmax, &F32::softmax_columns, &F64::softmax_columns>;
using LogSoftmax = Loops<&F32::log_softmax, &F64::log_softmax, &F32::log_softmax_columns, &F64::log_softmax_columns>;
using SoftmaxGrad = Loops<&F32::softmax_backward, &F64::softmax_backward, &F32::softmax_backward_columns,
                          &F64::softmax_backward_columns>;
using LogSoftmaxGrad = Loops<&F32::log_softmax_backward, &F64::log_softmax_backward, &F32::log_softmax_backward_columns,
                             &F64::log_softmax_backward_columns>;

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
  along<Softmax>("softmax", self, dim, out);
}
void log_softmax(Tensor& self, int64_t dim, std::optional<DType>, Tensor& out) {
  along<LogSoftmax>("log_softmax", self, dim, out);
}

TensorRef softmax_grad(Tensor& g, Tensor& y, int64_t dim) {
  return backward_along<SoftmaxGrad>("softmax_backward", g, y, dim);
}
TensorRef log_softmax_grad(Tensor& g, Tensor& y, int64_t dim) {
  return backward_along<LogSoftmaxGrad>("log_softmax_backward", g, y, dim);
}

}  // namespace kernels
}  // namespace vivace

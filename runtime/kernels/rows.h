// Kernels that work along one dim see contiguous rows of float or double: other layouts and half types go through
// copies.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// A contiguous tensor as [outer, n, inner] around a dim that is not negative.
struct Slabs {
  int64_t outer = 1, n = 1, inner = 1;
  Slabs(IntList sizes, int64_t dim) {
    for (int64_t d = 0; d < int64_t(sizes.size()); ++d) (d < dim ? outer : d == dim ? n : inner) *= sizes[size_t(d)];
  }
};

/// A view of t with `dim` moved to the end. No autograd.
TensorRef dim_to_end(Tensor& t, int64_t dim);

/// t with `dim` last, contiguous, in `dtype`: t itself where it is so already.
TensorRef as_rows(Tensor& t, int64_t dim, DType dtype);

/// t contiguous and in `dtype`; null stays null.
inline TensorRef dense_in(Tensor* t, DType dtype) {
  if (!t) return {};
  TensorRef dense = contiguous(*t);
  return dense->dtype() == dtype ? dense : to_dtype(*dense, dtype);
}
template <class T>
T* data_or_null(const TensorRef& t) {
  return t ? t->template data<T>() : nullptr;
}

/// Where a kernel may write rows for `out`: out itself, or a buffer that `put_rows` copies back.
struct RowBuffer {
  RowBuffer(Tensor& out, int64_t dim, DType dtype);
  ~RowBuffer() = default;
  Tensor& rows() { return buffer ? *buffer : out; }
  /// Copies the buffer to `out`, if there is one.
  void finish();

  Tensor& out;
  int64_t dim;
  TensorRef buffer;
};

/// Calls f<T>() with T = float or double, the type in which `t` is computed; NotImplementedError for other dtypes.
template <class F>
void visit_compute(DType t, const char* op, F&& f) {
  switch (t) {
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      return f.template operator()<float>();
    case DType::Float64:
      return f.template operator()<double>();
    default:
      fail_not_implemented("\"", op, "\" not implemented for '", t, "'");
  }
}

/// NotImplementedError unless t is a floating dtype.
inline void check_floating(DType t, const char* op) {
  if (!is_floating(t)) [[unlikely]]
    fail_not_implemented("\"", op, "\" not implemented for '", t, "'");
}

}  // namespace vivace::kernels

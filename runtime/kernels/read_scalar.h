// The first element of a tensor as a number.
#pragma once
#include "runtime/core/tensor.h"
#include "runtime/kernels/convert.h"

namespace vivace::kernels {

/// Throws for meta tensors, which have no values.
inline Scalar read_scalar(const Tensor& t) {
  if (t.is_meta()) fail("Tensor.item() cannot be called on meta tensors");
  return visit(t.dtype(), [&]<class T>() -> Scalar {
    const T x = *t.data<T>();
    if constexpr (std::is_same_v<T, bool>)
      return Scalar(x);
    else if constexpr (kIsComplex<T>)
      return Scalar(double(x.re), double(x.im));
    else if constexpr (std::is_same_v<T, uint64_t>)
      return Scalar(x);
    else if constexpr (std::is_integral_v<T>)
      return Scalar(int64_t(x));
    else
      return Scalar(double(load(x)));
  });
}

}  // namespace vivace::kernels

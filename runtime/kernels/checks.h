// Small checks and copies that several kernels share.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// Throws PyTorch's sentence unless `from` broadcasts to `to`.
inline void broadcastable_to(IntList from, IntList to) {
  bool fits = from.size() <= to.size();
  const size_t lead = fits ? to.size() - from.size() : 0;
  for (size_t d = 0; fits && d < from.size(); ++d) fits = from[d] == 1 || from[d] == to[lead + d];
  if (fits) [[likely]]
    return;
  if (from.size() > to.size()) fail("output with shape ", to, " doesn't match the broadcast shape ", from);
  for (size_t d = from.size(); d-- > 0;)
    if (from[d] != 1 && from[d] != to[lead + d])
      fail("The size of tensor a (", to[lead + d], ") must match the size of tensor b (", from[d],
           ") at non-singleton dimension ", lead + d);
}

/// A contiguous copy, never t itself.
inline TensorRef clone_of(const Tensor& t) {
  TensorRef copy = empty(t.sizes(), t.dtype(), t.device());
  copy_into(*copy, t);
  return copy;
}

/// As contiguous int64 data; throws unless t holds int64 or int32 (`op` says who asks).
inline TensorRef index_data(const Tensor& t, const char* op) {
  if (t.dtype() != DType::Int64 && t.dtype() != DType::Int32) fail(op, "(): Expected dtype int32/int64 for index");
  return contiguous(*to_dtype(t, DType::Int64));
}

}  // namespace vivace::kernels

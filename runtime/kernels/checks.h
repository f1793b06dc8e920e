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

}  // namespace vivace::kernels

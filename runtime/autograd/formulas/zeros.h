// Gradients that are added up in a tensor of zeros. Where nothing is recorded and nobody looks, the fresh zeros are
// written in place; an operator that returns a new tensor would copy them first.
#pragma once
#include <algorithm>

#include "generated/ops/factory/fresh.h"
#include "generated/ops/index/gather.h"
#include "generated/ops/index/select.h"
#include "runtime/dispatch/keys.h"

namespace vivace::formulas {

inline bool writes_in_place(std::initializer_list<const Tensor*> operands) {
  return !tls.grad_mode && std::ranges::none_of(operands, [](const Tensor* t) { return is_foreign(t->keys); });
}

/// g added to zeros of `sizes` at the indices along dim, element by element.
inline TensorRef scattered(Tensor& g, IntList sizes, int64_t dim, Tensor& index) {
  TensorRef zeros = ops::zeros(sizes, g.dtype(), g.device());
  if (!writes_in_place({&g, &index, zeros.get()})) return ops::scatter_add(*zeros, dim, index, g);
  ops::scatter_add_(*zeros, dim, index, g);
  return zeros;
}

/// The same slice by slice.
inline TensorRef slices_added(Tensor& g, IntList sizes, int64_t dim, Tensor& index) {
  TensorRef zeros = ops::zeros(sizes, g.dtype(), g.device());
  if (!writes_in_place({&g, &index, zeros.get()})) return ops::index_add(*zeros, dim, index, g, Scalar(1));
  ops::index_add_(*zeros, dim, index, g, Scalar(1));
  return zeros;
}

/// The same for what `self[indices]` gives.
inline TensorRef put_added(Tensor& g, IntList sizes, TensorList indices) {
  TensorRef zeros = ops::zeros(sizes, g.dtype(), g.device());
  const bool plain = std::ranges::none_of(indices, [](const Tensor* t) { return t && is_foreign(t->keys); });
  if (!plain || !writes_in_place({&g, zeros.get()})) return ops::index_put(*zeros, indices, g, true);
  ops::index_put_(*zeros, indices, g, true);
  return zeros;
}

}  // namespace vivace::formulas

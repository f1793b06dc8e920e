// Numbers that composites and derivatives read from tensors.
#pragma once
#include "generated/ops/factory/convert.h"
#include "runtime/dispatch/keys.h"
#include "runtime/kernels/read_scalar.h"

namespace vivace {

/// The first element of t, by way of the dispatcher where its memory can't be read.
inline Scalar value_of(const Tensor& t) {
  return is_foreign(t.keys) ? ops::_local_scalar_dense(const_cast<Tensor&>(t)) : kernels::read_scalar(t);
}
/// Whether a branch may depend on the elements: not on the meta device, which has none, nor for all samples of vmap.
inline bool has_values(const Tensor& t) { return !t.is_meta() && !(t.keys & bit(Key::Vmap)); }
/// Whether it is true; tensors without values are not.
inline bool is_true(const Tensor& t) { return has_values(t) && value_of(t).to_bool(); }
/// Throws, in the words that item() has there, for what stands for all samples of vmap.
inline void require_values(const Tensor& t) {
  if (t.keys & bit(Key::Vmap)) value_of(t);
}

/// t itself, or its elements on the CPU, where code is to read them by address; contiguous.
inline TensorRef readable(const Tensor& t) {
  if (!(t.keys & kMemoryKeys)) return contiguous(t);
  TensorRef here = contiguous(*ops::_to_copy(const_cast<Tensor&>(t), std::nullopt, Device{}));
  if (here->keys & (bit(Key::NoData) | bit(Key::Vmap)))
    fail_not_implemented("the elements of a tensor without memory can't be read");
  return here;
}

}  // namespace vivace

// Numbers that composites and derivatives read from tensors.
#pragma once
#include <vector>

#include "generated/ops/factory/convert.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
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

/// All elements of a tensor of integers.
inline std::vector<int64_t> integers_of(Tensor& t) {
  std::vector<int64_t> found(static_cast<size_t>(t.numel()));
  const TensorRef flat = ops::reshape(t, Dims{-1});
  for (size_t i = 0; i < found.size(); ++i) found[i] = value_of(*ops::select_int(*flat, 0, int64_t(i))).to_int();
  return found;
}

}  // namespace vivace

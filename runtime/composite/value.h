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
/// Whether it is true; meta tensors, which have no values, are not.
inline bool is_true(const Tensor& t) { return !t.is_meta() && value_of(t).to_bool(); }

}  // namespace vivace

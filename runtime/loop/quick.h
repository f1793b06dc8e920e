// The quick path of pointwise operators: small contiguous tensors of one dtype and shape, and numbers.
#pragma once
#include "runtime/loop/pointwise.h"

namespace vivace {

/// The result, or null if the operands are not of the simple kind. `into`: where to write, if in place.
Tensor* quick(const PointwiseInfo& info, const Value* args, Tensor* into);

}  // namespace vivace

// The quick path of pointwise operators: small contiguous tensors of one dtype and shape, and numbers.
#pragma once
#include "runtime/loop/pointwise.h"

namespace vivace {

/// Loops leave a note here when they divide an integer by zero.
extern int integer_division_by_zero;
/// Throws if a loop left that note.
[[noreturn]] void raise_division();
inline void check_division() {
  if (integer_division_by_zero) [[unlikely]]
    raise_division();
}

inline bool is_tensor(const Value& v) { return v.tag == Tag::Tensor; }

/// The result, or null if the operands are not of the simple kind. `into`: where to write, if in place.
Tensor* quick(const PointwiseInfo& info, const Value* args, Tensor* into);

}  // namespace vivace

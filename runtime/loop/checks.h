// Conditions of single pointwise operators beyond shape and dtype; entries name them by `check=`. Arguments as the
// schema orders them.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace::checks {

/// add, sub, rsub: alpha, the third argument, has to suit the operands' class.
void alpha(const Value* args);
/// clamp: one bound at least.
void clamp(const Value* args);
/// pow: no negative integer power of integers.
void pow(const Value* args);
/// complex, polar: two tensors of one floating dtype.
void same_floats(const Value* args);
/// softshrink: lambd is not negative.
void softshrink(const Value* args);
/// masked_fill: a tensor value is 0-dim, a number fits the dtype.
void masked_fill(const Value* args);

}  // namespace vivace::checks

// Conditions of single pointwise operators beyond shape and dtype; entries name them by `check=`. Arguments as the
// schema orders them.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace::checks {

/// add, subtract: alpha, the third argument, has to suit the operands' class.
void alpha(const Value* args);
/// sub, rsub: no bool operands; alpha as above.
void subtract(const Value* args);
/// neg: not of bools.
void negate(const Value* args);
/// div with rounding_mode: no complex numbers.
void div_mode(const Value* args);
/// clamp: one bound at least; numbers fit the result's dtype.
void clamp(const Value* args);
/// clamp_min, clamp_max: the number fits the result's dtype.
void clamp_bound(const Value* args);
/// pow: no negative integer power of integers; an exponent that fits.
void pow(const Value* args);
/// polygamma: the order is not negative.
void polygamma(const Value* args);
/// complex, polar: two tensors of one floating dtype.
void same_floats(const Value* args);
/// softshrink: lambd is not negative.
void softshrink(const Value* args);
/// threshold: both numbers fit the dtype.
void threshold(const Value* args);
/// where: numbers fit the result's dtype.
void where(const Value* args);
/// masked_fill: a tensor value is 0-dim, a number fits the dtype.
void masked_fill(const Value* args);

}  // namespace vivace::checks

// The calling convention of generated loops.
#pragma once
#include <cstdint>

#include "runtime/core/scalar.h"

namespace vivace {

/// Computes n elements: p[0] is the output, p[1..] are the inputs, all contiguous, of the loop's own types. The output
/// may be the same memory as an input of the same width, element for element. `params` are its scalar attributes.
using Loop = void (*)(char* const* p, int64_t n, const Scalar* params);

/// All loops; filled at import for the chosen instruction set.
extern Loop loop_table[];
/// The same, of binary loops, with one element in place of the first operand, or the second; null where there is none.
extern Loop item_loop_table[][2];

}  // namespace vivace

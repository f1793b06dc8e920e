// The calling convention of generated loops.
#pragma once
#include <cstdint>

namespace vivace {

/// A scalar attribute in the forms that loops read: `f` (and `imag`) where they compute in floating point, `i` in
/// integers.
struct Param {
  double f;
  double imag;
  int64_t i;
};

/// Computes n elements: p[0] is the output, p[1..] are the inputs, all contiguous, of the loop's own types. The output
/// may be the same memory as an input of the same width, element for element.
using Loop = void (*)(char* const* p, int64_t n, const Param* params);

/// All loops; filled at import for the chosen instruction set.
extern Loop loop_table[];

}  // namespace vivace

// Runs a loop over operands of any layout and dtype. The loop sees contiguous blocks: an operand that is not
// contiguous, or not of the loop's own type, is gathered into a buffer that fits the first cache, and the output is
// scattered from one.
#pragma once
#include "runtime/loop/loop.h"
#include "runtime/loop/pointwise.h"

namespace vivace {

/// Memory of one operand, as `Blocks` takes it. Strides are in bytes, one per dim, 0 where it broadcasts.
struct BlockOperand {
  char* data;
  DType dtype;       // in memory
  DType loop_dtype;  // what the loop reads or writes
  int64_t strides[kMaxDims];
};

struct Blocks {
  int ndim;  // dim 0 is the innermost
  int64_t sizes[kMaxDims];
  int noperands;  // the output comes first
  BlockOperand operands[kMaxOperands + 1];
  Loop loop;
  const Loop* item_loops;  // of item_loop_table
  const Scalar* params;

  /// Reads dims in the order that suits the operands' memory, and joins those that lie in one line.
  void coalesce();
  /// Computes all elements, on several threads if there are many.
  void run();
};

/// PyTorch's order of dims for an elementwise result: by the strides of the operands, the first that tells deciding.
/// `order` gets the dims, innermost first. strides[k] are operand k's (outermost first, 0 where it broadcasts).
void order_dims(IntList sizes, const int64_t* const* strides, int noperands, int* order);

}  // namespace vivace

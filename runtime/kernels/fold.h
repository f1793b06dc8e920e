// Reductions with an accumulator that is one number: floating types through the vector loops, integers, complex
// numbers.
#pragma once
#include "runtime/core/tensor.h"
#include "runtime/kernels/reduce_loops.h"

namespace vivace::kernels {

/// Turns a total into the result: multiplies it by `scale`, then takes the given root (1: none, 2: square root, ...).
struct Finish {
  double scale = 1;
  double root = 1;
};

/// out = fold of `in` over the dims of `mask`. The elements are read as `compute`: Float32, Float64, Int64, UInt64,
/// Complex64 or Complex128; integers know Sum, Product, Max and Min, complex numbers Sum and Product. Reducing nothing
/// gives the neutral element.
void fold(Fold kind, const Tensor& in, DType compute, Tensor& out, uint64_t mask, Finish finish = {});

/// What `t` is read as when it is added up: float32 for half types, int64 for bool and integers.
DType fold_type(DType t);

}  // namespace vivace::kernels

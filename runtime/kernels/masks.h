// Where a mask is set.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace::kernels {

/// The coordinates of the n bytes that are not zero in a contiguous array of `sizes`: those along dim d go to to[d].
/// The array has one dim at least.
void mask_coordinates(const uint8_t* set, IntList sizes, int64_t n, int64_t* const* to);

}  // namespace vivace::kernels

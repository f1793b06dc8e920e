// What PyTorch refuses about memory that is written: elements that share it with each other, or partly with an input.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

/// Whether a stride of 0 makes several elements of t one.
bool has_internal_overlap(const Tensor& t);
/// Throws if `out` has such elements.
void check_no_internal_overlap(const Tensor& out);
/// Throws if `out` shares some of its memory with `in`, unless they are the same elements in the same order.
void check_no_partial_overlap(const Tensor& out, const Tensor& in);
/// Throws if `out` shares memory with `in`.
void check_no_overlap(const Tensor& out, const Tensor& in);

}  // namespace vivace

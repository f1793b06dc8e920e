// The layer that records operators: a kernel of Key::Profiler, the highest key, which is set in profiled threads only.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace::profiler {

/// Records the call and calls what is below.
Object* operator_kernel(const Op& op, KeySet keys, Value* args);
/// Gives all operators of the catalogue that kernel.
void install();

/// Arguments stand one after the other in Recorder::words, each behind a word of these parts.
struct ArgumentHead {
  Tag tag;
  DType dtype;     // of a tensor
  uint8_t ndim;    // of a tensor; its sizes and strides follow
  uint32_t count;  // of a list, whose items follow: words, or tensors with heads of their own
};

}  // namespace vivace::profiler

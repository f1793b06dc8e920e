// Tensors whose memory only their own kernels may touch (a private backend's, wrappers, batches), and calls that Python
// sees. What reads or writes memory beside the dispatcher asks here first.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// Whether there may be any: set when the first is made, never cleared.
extern bool foreign_tensors_exist;

/// Whether op only calls other operators, whatever the backend and whether or not something is recorded.
bool is_implicit_composite(const Op& op);
/// Gives op a kernel for a key.
void set_kernel(Op& op, Key key, Kernel kernel);
/// A kernel of Key::NoData.
[[noreturn]] Object* refuse_without_memory(const Op& op, KeySet keys, Value* args);
/// From here on there may be foreign tensors: calls that would read memory that a tensor has not are refused.
void guard_memory();

}  // namespace vivace

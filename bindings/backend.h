// A private backend written in Python: its name, its devices, its allocator and its fallback. vivace/_backend.py is the
// other half.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// Whether a program has claimed the private backend; until then devices of it are refused.
bool backend_is_claimed();
/// Readies the dispatcher for the backend's kernels.
void ready_backend_kernels();
/// Readies what the first use of one of its devices needs; the device with its index filled in.
Device backend_device(int8_t index);
/// What it is called: "privateuseone" until it is renamed.
const char* backend_name();

/// The backend's fallback as a kernel written in Python; see python_dispatch.cpp.
Object* call_with_python_arguments(Object* function, const Op& op, Value* args);

void init_backend(Object* module);

}  // namespace vivace

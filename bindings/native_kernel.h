// Kernels that extensions compile (src/vivace/include/vivace/abi.h): objects that Python registers as it does callables
// of its own. Their signatures are compared with the operator's when they are registered, never at a call.
#pragma once
#include <string>

#include "bindings/tables.h"
#include "runtime/dispatch/op.h"
#include "src/vivace/include/vivace/abi.h"

namespace vivace {

/// A kernel as an object; `signature` is copied.
Object* make_native_kernel(abi::KernelFunction function, void* context, const char* signature);
bool is_native_kernel(const Object* object);
/// Makes op the operator that a kernel serves; throws if their signatures differ.
void bind_native_kernel(Object* kernel, const Op& op);
Object* call_native_kernel(Object* kernel, const Value* args);

/// Throws unless callers that know an operator by `signature` may call op.
void check_callers_signature(const Op& op, std::string_view signature);

void init_native_kernel(Object* module);

}  // namespace vivace

// Operators on a private backend (DeviceType::PrivateUse). Its kernels stand in the tables like any other; this file
// says what happens where there is none: a form is derived from one that has a kernel, the backend's fallback runs, or
// the call is refused. No kernel of the CPU ever sees its memory.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// What Python gives a backend.
struct BackendHooks {
  /// The fallback for all operators, or null.
  Object* (*fallback)(const Op& op, Value* args) = nullptr;
  /// A block of memory on a device of the backend; null if it has no allocator.
  Storage* (*allocate)(size_t nbytes, Device device) = nullptr;
  /// Whether op's kernel is written in Python, where numbers may stand for tensors.
  bool (*takes_numbers)(const Op& op) = nullptr;
  /// The operator _copy_from(self, dst, non_blocking).
  const Op* copy_from = nullptr;
};
extern BackendHooks backend_hooks;

/// The kernel of operators for which the backend registered none.
Object* backend_kernel(const Op& op, KeySet keys, Value* args);
/// Gives every operator a kernel for Key::PrivateUse, and core what makes and moves foreign memory. Does so once.
void install_backend();
/// The kernel that op has for Key::PrivateUse as long as nobody registers one.
Kernel own_backend_kernel(const Op& op);

/// What a kernel of an operator that makes views returned, as views of self: tensors with a payload share no storage.
Object* as_view_of(Tensor& self, Object* result);

/// PyTorch's sentence if tensors with dims lie on several devices.
void check_same_device(const Op& op, const Value* args);

}  // namespace vivace

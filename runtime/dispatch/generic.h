// Kernels that serve many operators: everything between a typed C++ function and an entry of an Op's table that does
// not depend on the operator. All stand below autograd; those that write a tensor raise its version.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// `Op::data` of an operator with separate shape function and kernel, and of its in-place and out= forms' `functional`.
struct StructuredInfo {
  int nout;
  bool alias_safe;                                // fill may be called with an output that is also an input
  void (*meta)(Value* args, TensorRef* out);      // checks, and allocates the outputs from metadata alone
  void (*fill)(Value* args, Tensor* const* out);  // computes into what meta made, or something laid out like it
};

Object* structured_kernel(const Op& op, KeySet keys, Value* args);
Object* structured_meta(const Op& op, KeySet keys, Value* args);
Object* structured_inplace(const Op& op, KeySet keys, Value* args);
Object* structured_out(const Op& op, KeySet keys, Value* args);

/// In place and out= by way of a fresh result of `op.functional`.
Object* inplace_by_copy(const Op& op, KeySet keys, Value* args);
Object* out_by_copy(const Op& op, KeySet keys, Value* args);

/// In place for composites: the functional form and copy_, both dispatched from the top, so that autograd records them.
Object* composite_inplace(const Op& op, KeySet keys, Value* args);

/// For backends that an operator has no kernel for: throws.
Object* missing_kernel(const Op& op, KeySet keys, Value* args);

/// Throws unless values of `result` may be stored as `out`.
void check_castable(DType result, DType out);

/// Readies `out` for a result of this layout: resizes it (with PyTorch's warning if it has elements) and checks that op
/// lets it have its dtype.
void prepare_out(const Op& op, Tensor& out, const Tensor& result);

/// Sets requires_grad on what a factory made.
TensorRef with_requires_grad(TensorRef t, bool requires_grad);

}  // namespace vivace

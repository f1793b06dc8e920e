// Pointwise operators at run time: tables that the generator emits, and the one driver that runs their loops.
// A loop sees contiguous blocks only; the driver gathers strided, broadcast and other-dtype operands into blocks that
// fit the first cache. There is always exactly one output.
#pragma once
#include "runtime/dispatch/op.h"
#include "runtime/loop/loop.h"

namespace vivace {

inline constexpr int kMaxOperands = 6;
inline constexpr int kMaxParams = 6;
/// In PointwiseRow: the default dtype stands in for this one (integers in an operator that needs floats).
inline constexpr uint8_t kUseDefault = 254;
/// In PointwiseRow: the operator does not exist for this dtype.
inline constexpr uint8_t kUnsupported = 255;

/// What happens for one common dtype of the operands.
struct PointwiseRow {
  uint8_t compute;  // dtype of the loop's inputs, or kUseDefault, or kUnsupported
  uint8_t native;   // dtype that the loop writes
  uint8_t result;   // dtype of the result
  bool no_casts;    // the loop reads the common dtype and writes the result's
  uint16_t loop;    // index into the loop table
};

struct PointwiseInfo {
  const char* name;  // in errors
  uint8_t noperands;
  uint8_t nparams;
  uint8_t operands[kMaxOperands];  // argument index of each input of the loop: a Tensor, or a Scalar that takes part in
                                   // promotion
  uint8_t params[kMaxParams];      // argument index of each number that the loop reads as an attribute
  uint8_t followers;               // bit i: operand i takes no part in promotion and is cast to what the others give
  uint8_t masks;                   // bit i: operand i, a follower, is read as bool instead
  const PointwiseRow* rows;        // by common dtype of the operands
  const PointwiseInfo& (*choose)(
      const Value* args);            // the variant that strings, flags and absent arguments select, or null
  void (*check)(const Value* args);  // further conditions, or null
  bool row_major;                    // the result is, whatever the layout of the operands
};

/// Whether v is the number x and no wider in class than the tensor `self`, so that it has no say in the dtype.
inline bool is_special(const Value& self, const Value& v, double x) {
  if (self.tag != Tag::Tensor || self.tensor->dtype() == DType::Bool) return false;
  if (v.tag == Tag::Int) return v.scalar().to_double() == x;
  return v.tag == Tag::Float && v.f == x && self.tensor->dtype() >= DType::Float16;
}

/// Kernels for Op::table whose Op::data is a PointwiseInfo. They serve OpClass Plain, InPlace (writes args[0]) and Out
/// (writes the last argument), check overlap, cast and shape, and raise the version of what they write.
Object* pointwise_kernel(const Op& op, KeySet keys, Value* args);
Object* pointwise_meta(const Op& op, KeySet keys, Value* args);
/// The same for OpClass Plain, and for InPlace, where the operands are the first one or two arguments, tensors both,
/// and no variants are to choose from.
Object* pointwise_unary_fast(const Op& op, KeySet keys, Value* args);
Object* pointwise_binary_fast(const Op& op, KeySet keys, Value* args);
Object* pointwise_unary_in_place_fast(const Op& op, KeySet keys, Value* args);
Object* pointwise_binary_in_place_fast(const Op& op, KeySet keys, Value* args);

/// Loops leave a note here when they divide an integer by zero.
extern int integer_division_by_zero;
/// Throws if a loop left that note.
[[noreturn]] void raise_division();
inline void check_division() {
  if (integer_division_by_zero) [[unlikely]]
    raise_division();
}

/// Runs the loops without an operator: fused derivatives. Returns a new reference.
Tensor* pointwise(const PointwiseInfo& info, const Value* args);

}  // namespace vivace

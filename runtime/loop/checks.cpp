#include "runtime/loop/checks.h"

#include "runtime/core/promote.h"

namespace vivace::checks {

void alpha(const Value* args) {
  const Scalar& alpha = args[2].scalar();
  if (alpha.tag == Tag::Int) [[likely]]
    return;
  ResultType type;
  for (int k = 0; k < 2; ++k) {
    if (args[k].tag == Tag::Tensor)
      type.add(*args[k].tensor);
    else
      type.add(args[k].scalar());
  }
  const DType t = type.dtype();
  if (alpha.is_bool() && !is_bool(t)) fail("Boolean alpha only supported for Boolean results.");
  if (alpha.is_floating() && (is_integral(t) || is_bool(t)))
    fail("For integral input tensors, argument alpha must not be a floating point number.");
  if (alpha.is_complex() && !is_complex(t))
    fail("For non-complex input tensors, argument alpha must not be a complex number.");
}

void clamp(const Value* args) {
  if (args[1].is_none() && args[2].is_none()) fail("torch.clamp: At least one of 'min' or 'max' must not be None");
}

void pow(const Value* args) {
  const bool integral_base = args[0].tag == Tag::Tensor
                                 ? is_integral(args[0].tensor->dtype()) || is_bool(args[0].tensor->dtype())
                                 : args[0].scalar().is_integral();
  if (integral_base && args[1].tag == Tag::Int && args[1].i < 0)
    fail("Integers to negative integer powers are not allowed.");
}

void same_floats(const Value* args) {
  const DType a = args[0].tensor->dtype(), b = args[1].tensor->dtype();
  if (!is_floating(a) || !is_floating(b))
    fail("Expected both inputs to be Half, Float or Double tensors but got ", a, " and ", b);
  if (a != b) fail("Expected object of scalar type ", a, " but got scalar type ", b, " for second argument");
}

void softshrink(const Value* args) {
  if (!(args[1].scalar().to_double() >= 0))
    fail("lambda must be in range [0, 3.40282e+38] for input dtype Float, but found ", args[1].scalar().to_double());
}

void masked_fill(const Value* args) {
  const DType t = args[0].tensor->dtype();
  if (args[2].tag == Tag::Float && is_integral(t) && !(args[2].f >= -0x1p63 && args[2].f < 0x1p63))
    fail("value cannot be converted to type ", t, " without overflow");
  if (args[2].tag == Tag::Complex && !is_complex(t) && args[2].imag != 0)
    fail("value cannot be converted to type ", t, " without overflow");
  if (args[2].tag == Tag::Tensor && args[2].tensor->dim() != 0)
    fail("masked_fill only supports a 0-dimensional value tensor, but got tensor with ", args[2].tensor->dim(),
         " dimension(s).");
}

}  // namespace vivace::checks

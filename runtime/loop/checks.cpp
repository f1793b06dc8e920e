// The conditions of checks.h, with PyTorch's sentences.
#include "runtime/loop/checks.h"

#include "runtime/core/promote.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/read_scalar.h"

namespace vivace::checks {

namespace {

bool is_number(const Value& v) { return v.tag >= Tag::Bool && v.tag <= Tag::Complex; }

/// Throws if a number among args[first] to args[last] is out of the range of their common dtype.
void check_numbers(const Value* args, int first, int last) {
  ResultType type;
  bool numbers = false;
  for (int k = first; k <= last; ++k) {
    if (args[k].tag == Tag::Tensor) {
      type.add(*args[k].tensor);
    } else if (is_number(args[k])) {
      type.add(args[k].scalar());
      numbers = true;
    }
  }
  if (!numbers) return;
  for (int k = first; k <= last; ++k)
    if (is_number(args[k])) kernels::check_fits(args[k].scalar(), type.dtype());
}

/// Whether the factor of the second operand is one that its dtype has. Apart, so that `alpha` needs no frame.
[[gnu::noinline]] void check_factor(const Value* args) {
  const Scalar& alpha = args[2].scalar();
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
  kernels::check_fits(alpha, t);
}

}  // namespace

void alpha(const Value* args) {
  const Scalar& alpha = args[2].scalar();
  if (alpha.tag == Tag::Int && alpha.i == 1) [[likely]]
    return;
  check_factor(args);
}

void negate(const Value* args) {
  if (args[0].tag == Tag::Tensor && args[0].tensor->dtype() == DType::Bool) [[unlikely]]
    fail(
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` "
        "or `logical_not()` operator instead.");
}

void subtract(const Value* args) {
  alpha(args);
  const auto is_bool_operand = [](const Value& v) {
    return v.tag == Tag::Bool || (v.tag == Tag::Tensor && v.tensor->dtype() == DType::Bool);
  };
  const int bools = is_bool_operand(args[0]) + is_bool_operand(args[1]);
  if (bools == 2)
    fail(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
        "operator "
        "instead.");
  if (bools == 1)
    fail(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.");
}

void div_mode(const Value* args) {
  if (args[2].is_none()) return;
  const auto is_complex_operand = [](const Value& v) {
    return v.tag == Tag::Complex || (v.tag == Tag::Tensor && is_complex(v.tensor->dtype()));
  };
  if (is_complex_operand(args[0]) || is_complex_operand(args[1]))
    fail_not_implemented("div: rounding_mode='", args[2].string(), "' is not implemented for complex numbers");
}

void clamp(const Value* args) {
  if (args[1].is_none() && args[2].is_none()) fail("torch.clamp: At least one of 'min' or 'max' must not be None");
  check_numbers(args, 0, 2);
}

void clamp_bound(const Value* args) { check_numbers(args, 0, 1); }

void pow(const Value* args) {
  const bool integral_base = args[0].tag == Tag::Tensor
                                 ? is_integral(args[0].tensor->dtype()) || is_bool(args[0].tensor->dtype())
                                 : args[0].scalar().is_integral();
  if (integral_base && args[1].tag == Tag::Int && args[1].scalar().to_double() < 0)
    fail("Integers to negative integer powers are not allowed.");
  if (args[0].tag == Tag::Tensor && item_size(args[0].tensor->dtype()) <= 2) check_numbers(args, 0, 1);
}

void polygamma(const Value* args) {
  if (args[0].i < 0) fail("polygamma(n, x) does not support negative n.");
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
  if (args[2].tag != Tag::Tensor) return kernels::check_fits(args[2].scalar(), t);
  if (args[2].tensor->dim() != 0)
    fail("masked_fill only supports a 0-dimensional value tensor, but got tensor with ", args[2].tensor->dim(),
         " dimension(s).");
  if (!args[2].tensor->is_meta()) kernels::check_fits(kernels::read_scalar(*args[2].tensor), t);
}

void threshold(const Value* args) {
  for (int k = 1; k <= 2; ++k) kernels::check_fits(args[k].scalar(), args[0].tensor->dtype());
}

void where(const Value* args) { check_numbers(args, 1, 2); }

}  // namespace vivace::checks

// Inference mode: what operators make in it carries Key::Inference for life, and can't be saved for backward or changed
// in place outside of the mode.
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

/// Calls f with each tensor among the arguments, and its position.
template <class F>
void for_each_tensor(const Op& op, const Value* args, F&& f) {
  for (int i = 0; i < op.nargs; ++i) {
    if (op.tensor_args >> i & 1) {
      if (args[i].tensor) f(*args[i].tensor, i);
    } else if (op.list_args >> i & 1) {
      for (Tensor* t : args[i].tensor_list())
        if (t) f(*t, i);
    }
  }
}

/// Whether the op's node would save argument i itself.
bool saves(const NodeInfo& info, int i) {
  for (int k = 0; k < info.nsaves; ++k)
    if (info.saves[k].from == SaveFrom::Arg && info.saves[k].index == i) return true;
  return false;
}

/// Outside of the mode: refuses what inference tensors can't do; whether a call can be recorded. That some inference
/// tensor requires grad is no reason to.
bool check_outside(const Op& op, const Value* args) {
  bool recording = false;
  for_each_tensor(op, args, [&](const Tensor& t, int i) {
    recording |= t.requires_grad() && !is_inference(t);
    if (op.args[i].is_mutated && is_inference(t))
      fail("Inplace update to inference tensor outside InferenceMode is not allowed: ", op.name,
           "() would change one. You can make a clone to get a normal tensor before doing inplace update.");
  });
  if (!recording || !tls.grad_mode || !op.node) return recording;
  for_each_tensor(op, args, [&](const Tensor& t, int i) {
    if (is_inference(t) && saves(*op.node, i)) refuse_inference_save();
  });
  return true;
}

}  // namespace

void refuse_inference_save() {
  fail(
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
      "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
      "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
}

void set_inference_mode(bool on) {
  tls.inference_mode = on;
  tls.include = on ? tls.include | bit(Key::Inference) : tls.include & ~bit(Key::Inference);
  tls.exclude = on ? tls.exclude | bit(Key::Autograd) : tls.exclude & ~bit(Key::Autograd);
}

Object* inference_kernel(const Op& op, KeySet keys, Value* args) {
  if (!tls.inference_mode && !check_outside(op, args)) keys &= ~bit(Key::Autograd);
  Object* result = redispatch(op, keys & below(Key::Inference), args);
  const bool marks = op.op_class == OpClass::Plain  ? tls.inference_mode
                     : op.op_class == OpClass::View ? is_inference(*args[0].tensor)
                                                    : false;
  if (!marks) return result;
  for (Tensor* made : result_tensors(result)) {
    if (!is_tensor(made)) continue;
    bool given = false;  // an argument that came back is no new tensor
    for_each_tensor(op, args, [&](const Tensor& t, int) { given |= &t == made; });
    if (!given) mark_inference(*made);
  }
  return result;
}

}  // namespace vivace

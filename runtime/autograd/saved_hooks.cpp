// Saved-tensor hooks: while a thread has some, what a new node saved is packed as soon as the op has run.
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/rebase.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

void pack_saved(Node& node) {
  for (uint32_t k = 0; k < node.nsaves; ++k) {
    Value& slot = node.saved()[k];
    if (slot.tag != Tag::Tensor) continue;
    const TensorRef data = alias(*slot.tensor);
    Object* packed = python_hooks.pack(*data);
    Tensor* before = slot.tensor;
    slot.object = packed;
    slot.tag = Tag::Object;
    Py_DECREF(before);
  }
}

Object* saved_hooks_kernel(const Op& op, KeySet keys, Value* args) {
  const uint64_t start = next_sequence();
  Object* result = redispatch(op, keys & below(Key::SavedHooks), args);
  auto owner = Ref<Object>::steal(result);
  auto pack_new = [&](Node* node) {
    if (node && node->sequence >= start) pack_saved(*node);
  };
  for (Tensor* t : result_tensors(result)) {
    if (!is_tensor(t)) continue;
    pack_new(t->grad_fn);
    if (op.op_class == OpClass::InPlace && t->base && t->base->grad_fn) pack_new(written_by(*t->base->grad_fn));
  }
  return owner.release();
}

}  // namespace vivace

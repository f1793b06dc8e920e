// Saved-tensor hooks: while a thread has some, what a new node saved is packed as soon as the op has run.
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/rebase.h"
#include "runtime/core/tensor_object.h"

namespace vivace {

namespace {
/// Puts what the pack hook makes of a tensor in its place. The hook sees an argument itself, since it may look for
/// parameters or tensors that it knows; a result only without its history, or the node would keep itself alive.
void pack(const Node& node, Object*& place) {
  Tensor& t = tensor_of(place);
  const TensorRef data = t.grad_fn == &node ? alias(t) : TensorRef::share(&t);
  Object* before = std::exchange(place, python_hooks.pack(*data));
  Py_DECREF(before);
}
}  // namespace

void pack_saved(Node& node) {
  for (uint32_t k = 0; k < node.nsaves; ++k) {
    Value& slot = node.saved()[k];
    if (slot.tag == Tag::Tensor) {
      pack(node, slot.object);
      slot.tag = Tag::Object;
    } else if (slot.tag == Tag::TensorList) {
      auto** members = reinterpret_cast<Object**>(const_cast<Tensor**>(slot.tensors));
      for (int64_t i = 0; i < slot.count; ++i)
        if (members[i]) pack(node, members[i]);
    }
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

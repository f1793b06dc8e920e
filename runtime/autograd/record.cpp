// Recording: one kernel for Key::Autograd that serves every operator by walking its NodeInfo.
#include <cstdlib>
#include <cstring>

#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/view.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

constexpr KeySet kBelow = below(Key::Autograd);

inline bool needs_grad(const Tensor* t) { return t && (t->keys & bit(Key::Autograd)); }

/// Whether a differentiable argument requires grad; counts the edges that a node would have.
bool any_requires_grad(const Op& op, const Value* args, uint32_t& nedges) {
  const NodeInfo& info = *op.node;
  bool any = false;
  nedges = 0;
  for (int i = 0; i < info.nedges; ++i) {
    const int a = info.edge_args[i];
    if (op.list_args >> a & 1) {
      for (const Tensor* t : args[a].tensor_list()) any |= needs_grad(t);
      nedges += uint32_t(args[a].count);
    } else {
      any |= needs_grad(args[a].tensor);
      ++nedges;
    }
  }
  return any;
}

void collect_edges(const Op& op, const Value* args, Node& node) {
  const NodeInfo& info = *op.node;
  Edge* edge = node.edges();
  for (int i = 0; i < info.nedges; ++i) {
    const int a = info.edge_args[i];
    if (op.list_args >> a & 1) {
      for (Tensor* t : args[a].tensor_list()) *edge++ = make_edge(t);
    } else {
      *edge++ = make_edge(args[a].tensor);
    }
  }
}

template <class T>
T* copy_list(const T* from, int64_t n) {
  T* to = static_cast<T*>(std::malloc(size_t(n) * sizeof(T) + 1));
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), size_t(n) * sizeof(T));
  return to;
}

inline void save_tensor(Value& slot, Tensor* t) {
  slot.tensor = t;
  if (!t) [[unlikely]] {
    slot.tag = Tag::None;
    return;
  }
  slot.tag = Tag::Tensor;
  t->keys |= bit(Key::Watched);
  Py_INCREF(t);
  slot.count = *t->version_;
}

void save_argument(Value& slot, const Op& op, const Value& arg, int index) {
  if (op.tensor_args >> index & 1) return save_tensor(slot, arg.tensor);
  slot = arg;
  switch (arg.tag) {
    case Tag::IntList:
      slot.ints = copy_list(arg.ints, arg.count);
      break;
    case Tag::FloatList:
      slot.floats = copy_list(arg.floats, arg.count);
      break;
    case Tag::ScalarList:
      slot.scalars = copy_list(arg.scalars, arg.count);
      break;
    case Tag::String:
      slot.chars = copy_list(arg.chars, arg.count);
      break;
    case Tag::TensorList:
      slot.tensors = copy_list(arg.tensors, arg.count);
      for (Tensor* t : slot.tensor_list()) Py_XINCREF(t);
      break;
    case Tag::Object:
      Py_INCREF(arg.object);
      break;
    default:
      break;
  }
}

/// Saves what the derivative uses of the arguments; results are saved later by save_results.
void save_arguments(const Op& op, const Value* args, Node& node) {
  const NodeInfo& info = *op.node;
  for (int k = 0; k < info.nsaves; ++k) {
    const SaveSpec spec = info.saves[k];
    Value& slot = node.saved()[k];
    switch (spec.from) {
      case SaveFrom::Arg:
        save_argument(slot, op, args[spec.index], spec.index);
        break;
      case SaveFrom::ArgSizes:
        if (const Tensor* t = args[spec.index].tensor) {
          slot = Value::of(t->sizes());
          slot.ints = copy_list(slot.ints, slot.count);
        }
        break;
      case SaveFrom::ArgDType:
        if (const Tensor* t = args[spec.index].tensor) slot = Value::of(t->dtype());
        break;
      case SaveFrom::Result:
        slot.tag = Tag::None;
        break;
    }
  }
}

void save_results(const NodeInfo& info, Tensor* const* results, Node& node) {
  for (int k = 0; k < info.nsaves; ++k) {
    if (info.saves[k].from != SaveFrom::Result) continue;
    Tensor* result = results[info.saves[k].index];
    Value& slot = node.saved()[k];
    // Never the output itself, or the node and its output would keep each other alive.
    slot.tensor = alias(*result).release();
    result->keys |= bit(Key::Watched);
    slot.tag = Tag::Tensor;
    slot.count = *result->version_;
  }
}

Object* record_call(const Op& op, KeySet keys, Value* args) {
  uint32_t nedges;
  if (!op.node || !tls.grad_mode || !any_requires_grad(op, args, nedges)) return redispatch(op, keys & kBelow, args);
  const NodeInfo& info = *op.node;
  Object* result = redispatch(op, keys & kBelow, args);
  auto owner = Ref<Object>::steal(result);
  const std::span<Tensor*> outputs = result_tensors(result);
  Node* node = new_node(info, nedges, info.nsaves, uint32_t(outputs.size()));
  auto node_owner = Ref<Node>::steal(node);
  collect_edges(op, args, *node);
  save_arguments(op, args, *node);
  bool differentiable = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_tensor(outputs[i])) continue;  // None, where an output was not asked for
    Tensor& t = *outputs[i];
    if ((i < 32 && info.nondiff_outputs >> i & 1) || !is_differentiable(t.dtype())) continue;
    if (needs_grad(&t)) continue;  // the kernel gave an argument back; it keeps its own history
    set_history(t, *node, uint32_t(i));
    differentiable = true;
  }
  if (differentiable) save_results(info, outputs.data(), *node);
  return owner.release();
}

[[gnu::cold, gnu::noinline]] void refuse_leaf(const Op& op, const char* what) {
  fail(op.name, "(): ", what,
       " that requires grad is being used in an in-place operation; do it under torch.no_grad(), or on a copy");
}

Object* record_in_place(const Op& op, KeySet keys, Value* args) {
  Tensor& self = *args[0].tensor;
  const KeySet below = (keys & kBelow) | bit(Key::Watched);  // what requires grad may have been saved as an alias
  uint32_t nedges = 0;
  const bool self_grad = needs_grad(&self);
  // An op that overwrites self has no edge to it, and is recorded all the same.
  const bool recording = tls.grad_mode && op.node && (any_requires_grad(op, args, nedges) | self_grad);
  if (tls.grad_mode && self_grad) {
    if (self.is_leaf() && !self.base) refuse_leaf(op, "a leaf Variable");
    if (self.base && needs_grad(self.base) && self.base->is_leaf()) refuse_leaf(op, "a view of a leaf Variable");
    if (is_function_view(self)) refuse_function_view(self);
  }
  if (!recording) return redispatch(op, below, args);
  if (!is_differentiable(self.dtype())) return redispatch(op, below, args);
  if (self.base && needs_grad(self.base) && self.base->is_leaf()) refuse_leaf(op, "a view of a leaf Variable");

  const NodeInfo& info = *op.node;
  Node* node = new_node(info, nedges, info.nsaves, 1);
  auto node_owner = Ref<Node>::steal(node);
  collect_edges(op, args, *node);
  TensorRef original;  // the value before the write, if backward needs it
  const Value self_value = args[0];
  for (int k = 0; k < info.nsaves; ++k)
    if (info.saves[k].from == SaveFrom::Arg && info.saves[k].index == 0 && !original) {
      original = empty_like(self);
      copy_into(*original, self);
      args[0].tensor = original.get();
    }
  save_arguments(op, args, *node);
  args[0] = self_value;
  auto owner = Ref<Object>::steal(redispatch(op, below, args));
  rebase_history(self, *node);
  Tensor* results[] = {&self};
  save_results(info, results, *node);
  return owner.release();
}

Object* record_out(const Op& op, KeySet keys, Value* args) {
  if (tls.grad_mode) {
    for (uint32_t m = op.tensor_args; m; m &= m - 1) {
      const Tensor* t = args[__builtin_ctz(m)].tensor;
      if (needs_grad(t))
        fail(op.name,
             "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
             "requires grad.");
    }
  }
  return redispatch(op, keys & kBelow, args);
}

}  // namespace

Edge make_edge(Tensor* t) {
  if (!needs_grad(t)) return Edge();
  if (t->grad_fn) {
    Py_INCREF(t->grad_fn);
    return Edge(t->grad_fn, t->output_nr);
  }
  Py_INCREF(t);
  return Edge::leaf(t);
}

void set_history(Tensor& t, Node& node, uint32_t nr) {
  Py_INCREF(&node);
  Node* old = std::exchange(t.grad_fn, &node);
  t.output_nr = nr;
  t.keys |= bit(Key::Autograd);
  set_meta(node, nr, t);
  track(t);
  Py_XDECREF(old);
}

void set_requires_grad(Tensor& t, bool value) {
  if (!t.is_leaf()) {
    if (!value)
      fail(
          "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
          "subgraph that doesn't "
          "require differentiation use var_no_grad = var.detach().");
    return;
  }
  if (value && !is_differentiable(t.dtype()))
    fail("only Tensors of floating point and complex dtype can require gradients, got ", t.dtype());
  if (value) {
    t.keys |= bit(Key::Autograd);
    track(t);
  } else {
    t.keys &= ~bit(Key::Autograd);
  }
}

void detach_in_place(Tensor& t) {
  if (t.base && needs_grad(t.base)) fail("Can't detach views in-place. Use detach() instead.");
  Node* old = std::exchange(t.grad_fn, nullptr);
  t.output_nr = 0;
  t.keys &= ~bit(Key::Autograd);
  ++t.epoch;
  Py_XDECREF(old);
}

Object* autograd_kernel(const Op& op, KeySet keys, Value* args) {
  switch (op.op_class) {
    case OpClass::InPlace:
      return record_in_place(op, keys, args);
    case OpClass::Out:
      return record_out(op, keys, args);
    default:
      return record_call(op, keys, args);
  }
}

}  // namespace vivace

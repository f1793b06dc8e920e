// Recording: the kernels for Key::Autograd, which serve every operator by walking its NodeInfo. The generator picks
// record_unary or record_binary for calls whose first one or two arguments are all that gets a gradient (these are
// hot); record_call serves the rest: record_single_output where the number of edges is known, record_general for lists
// of tensors and several outputs. record_in_place and record_out serve what writes to its arguments.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "generated/ops/factory/convert.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/tangent.h"
#include "runtime/autograd/view.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

constexpr KeySet kBelow = below(Key::Autograd);

inline bool needs_grad(const Tensor* t) { return t && (t->keys & bit(Key::Autograd)); }

/// Bit i, as in SaveSpec::edges.
inline uint8_t edge_bit(int i) { return i < 7 ? uint8_t(1 << i) : kAnyEdge; }

/// Which differentiable arguments require grad, as in SaveSpec::edges, 0 if none does; counts the edges that a node
/// would have.
uint8_t requiring_grad(const Op& op, const Value* args, uint32_t& nedges) {
  const NodeInfo& info = *op.node;
  uint8_t present = 0;
  nedges = 0;
  for (int i = 0; i < info.nedges; ++i) {
    const int a = info.edge_args[i];
    bool any = false;
    if (op.list_args >> a & 1) {
      for (const Tensor* t : args[a].tensor_list()) any |= needs_grad(t);
      nedges += uint32_t(args[a].count);
    } else {
      any = needs_grad(args[a].tensor);
      ++nedges;
    }
    if (any) present |= edge_bit(i) | kAnyEdge;
  }
  return present;
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
  std::copy_n(from, n, to);  // memcpy may not be given the null pointer of an empty list
  return to;
}

/// The tensors, and behind them their versions; see saved_list.
void save_list(Value& slot, TensorList list) {
  char* memory = static_cast<char*>(std::malloc(list.size() * (sizeof(Tensor*) + sizeof(uint32_t)) + 1));
  auto** tensors = reinterpret_cast<Tensor**>(memory);
  auto* versions = reinterpret_cast<uint32_t*>(memory + list.size_bytes());
  for (size_t i = 0; i < list.size(); ++i) {
    Tensor* t = tensors[i] = list[i];
    versions[i] = 0;
    if (!t) continue;
    Py_INCREF(t);
    t->keys |= bit(Key::Watched);
    versions[i] = *t->version_;
  }
  slot = Value::of(TensorList(tensors, list.size()));
}

/// For each tensor its number of dims, then its sizes.
void save_list_sizes(Value& slot, TensorList list) {
  size_t n = 0;
  for (const Tensor* t : list) n += 1 + t->ndim_;
  auto* sizes = static_cast<int64_t*>(std::malloc(n * sizeof(int64_t) + 1));
  slot = Value::of(IntList(sizes, n));
  for (const Tensor* t : list) {
    *sizes++ = t->ndim_;
    sizes = std::copy_n(t->dims_, t->ndim_, sizes);
  }
}

void save_layout(Value& slot, const Tensor& t) {
  const size_t n = size_t(t.ndim_) * 2;
  auto* layout = static_cast<int64_t*>(std::malloc((n + 1) * sizeof(int64_t)));
  std::copy_n(t.dims_, n, layout);
  layout[n] = t.storage_offset();
  slot = Value::of(IntList(layout, n + 1));
}

/// Saves what the derivative uses of an argument.
inline void save_argument(Value& slot, SaveSpec spec, const Value* args) {
  const Value& arg = args[spec.index];
  if (spec.from == SaveFrom::Arg) [[likely]] {
    slot = arg;
    if (arg.tag == Tag::Tensor) [[likely]] {
      arg.tensor->keys |= bit(Key::Watched);
      Py_INCREF(arg.tensor);
      slot.count = *arg.tensor->version_;
    } else if (arg.tag > Tag::Tensor) {
      own_saved(slot);
    }
  } else if (arg.tag == Tag::TensorList) {
    save_list_sizes(slot, arg.tensor_list());
  } else if (arg.tensor && spec.from == SaveFrom::ArgLayout) {
    save_layout(slot, *arg.tensor);
  } else if (arg.tensor) {
    slot = spec.from == SaveFrom::ArgDType ? Value::of(arg.tensor->dtype()) : Value::of(arg.tensor->sizes());
    own_saved(slot);
  }
}

/// Saves a result: never the output itself, or the node and its output would keep each other alive.
inline void save_result(Value& slot, Tensor& result) {
  slot.tensor = detached(result).release();
  result.keys |= bit(Key::Watched);
  slot.tag = Tag::Tensor;
  slot.count = *slot.tensor->version_;  // of an alias that Python made, perhaps not the result's
}

/// Saves what the gradients of the edges in `present` are computed from; results later, by save_results.
void save_arguments(const NodeInfo& info, const Value* args, Node& node, uint8_t present) {
  for (int k = 0; k < info.nsaves; ++k)
    if (info.saves[k].from != SaveFrom::Result && info.saves[k].edges & present)
      save_argument(node.saved()[k], info.saves[k], args);
}

void save_results(const NodeInfo& info, Tensor* const* results, Node& node, uint8_t present) {
  for (int k = 0; k < info.nsaves; ++k)
    if (info.saves[k].from == SaveFrom::Result && info.saves[k].edges & present)
      save_result(node.saved()[k], *results[info.saves[k].index]);
}

/// Whether the result of a call with one output gets a node: a kernel that gave an argument back leaves it its own
/// history.
inline bool is_recorded(const Tensor& result) { return is_differentiable(result.dtype_) && !needs_grad(&result); }

/// Makes the result the output of a node that has its edges, and saves what the gradients of those in `present` are
/// computed from.
[[gnu::always_inline]] inline void finish(Tensor& result, Node& node, Value* saved, const Value* args,
                                          uint8_t present) {
  const NodeInfo& info = *node.info;
  result.grad_fn = &node;
  result.output_nr = 0;
  result.keys |= bit(Key::Autograd);
  set_meta(node, 0, result);
  track(result);
  for (int k = 0; k < info.nsaves; ++k) {
    const SaveSpec spec = info.saves[k];
    if (present != kEveryEdge && !(spec.edges & present)) continue;
    if (spec.from == SaveFrom::Result)
      save_result(saved[k], result);
    else
      save_argument(saved[k], spec, args);
  }
}

/// Calls whose tensor arguments are the first N, with one edge each, and which have one output.
template <int N>
inline Object* record_leading_tensors(const Op& op, KeySet keys, Value* args) {
  if (!tls.grad_mode) [[unlikely]]
    return redispatch(op, keys & kBelow, args);
  auto owner = TensorRef::steal(&tensor_of(redispatch(op, keys & kBelow, args)));
  Tensor& result = *owner;
  if (is_recorded(result)) [[likely]] {
    const NodeInfo& info = *op.node;
    Node& node = *new_node(info, N, info.nsaves, 1);
    Edge* edges = node.edges();
    auto* saved = reinterpret_cast<Value*>(edges + N);
    if (N == 1 || args[0].tensor->keys & args[N - 1].tensor->keys & bit(Key::Autograd)) {
      for (int k = 0; k < N; ++k) edges[k] = edge_to(*args[k].tensor);
      finish(result, node, saved, args, kEveryEdge);
    } else {
      const int k = needs_grad(args[0].tensor) ? 0 : 1;
      edges[k] = edge_to(*args[k].tensor);
      finish(result, node, saved, args, edge_bit(k) | kAnyEdge);
    }
  }
  return owner.release();
}

/// Calls with one output and no tensor lists.
inline Object* record_single_output(const Op& op, const NodeInfo& info, KeySet keys, Value* args) {
  uint8_t present = 0;
  for (int i = 0; i < info.nedges; ++i)
    if (needs_grad(args[info.edge_args[i]].tensor)) present |= edge_bit(i) | kAnyEdge;
  if (!present) return redispatch(op, keys & kBelow, args);
  auto owner = TensorRef::steal(&tensor_of(redispatch(op, keys & kBelow, args)));
  Tensor& result = *owner;
  if (is_recorded(result)) {
    Node& node = *new_node(info, info.nedges, info.nsaves, 1);
    Edge* edges = node.edges();
    for (int i = 0; i < info.nedges; ++i) edges[i] = make_edge(args[info.edge_args[i]].tensor);
    finish(result, node, node.saved(), args, present);
  }
  return owner.release();
}

/// Calls with several outputs or tensor lists.
Object* record_general(const Op& op, const NodeInfo& info, KeySet keys, Value* args) {
  uint32_t nedges;
  const uint8_t present = requiring_grad(op, args, nedges);
  if (!present) return redispatch(op, keys & kBelow, args);
  Object* result = redispatch(op, keys & kBelow, args);
  auto owner = Ref<Object>::steal(result);
  const std::span<Tensor*> outputs = result_tensors(result);
  Node* node = new_node(info, nedges, info.nsaves, uint32_t(outputs.size()));
  auto node_owner = Ref<Node>::steal(node);
  collect_edges(op, args, *node);
  save_arguments(info, args, *node, present);
  bool differentiable = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_tensor(outputs[i])) continue;  // None, where an output was not asked for
    Tensor& t = *outputs[i];
    if ((i < 32 && info.nondiff_outputs >> i & 1) || !is_differentiable(t.dtype())) continue;
    if (needs_grad(&t)) continue;  // the kernel gave an argument back; it keeps its own history
    set_history(t, *node, uint32_t(i));
    differentiable = true;
  }
  if (differentiable) save_results(info, outputs.data(), *node, present);
  return owner.release();
}

[[gnu::cold, gnu::noinline]] void refuse_leaf(const Op& op, const char* what) {
  fail(op.name, "(): ", what,
       " that requires grad is being used in an in-place operation; do it under torch.no_grad(), or on a copy");
}

/// The value of a tensor that an operator is about to write to.
TensorRef copy_of(Tensor& t) {
  if (is_foreign(t.keys)) [[unlikely]] {
    const ExcludeGuard below(bit(Key::Autograd));
    return ops::clone(t);
  }
  TensorRef copy = empty_like(t);
  copy_into(*copy, t);
  return copy;
}

/// Refuses to write to a leaf that requires grad, to a view of one, and to a view whose base could not be told.
void check_in_place(const Op& op, const Tensor& self) {
  const bool self_grad = needs_grad(&self);
  if (self.base) {
    check_view_origin(self);
    if ((self_grad || needs_grad(self.base)) && self.base->is_leaf()) refuse_leaf(op, "a view of a leaf Variable");
  }
  if (self_grad && self.is_leaf()) refuse_leaf(op, "a leaf Variable");
}

}  // namespace

void save_argument(Node& node, int k, const Value* args) { save_argument(node.saved()[k], node.info->saves[k], args); }

void own_saved(Value& slot) {
  switch (slot.tag) {
    case Tag::IntList:
      slot.ints = copy_list(slot.ints, slot.count);
      break;
    case Tag::FloatList:
      slot.floats = copy_list(slot.floats, slot.count);
      break;
    case Tag::ScalarList:
      slot.scalars = copy_list(slot.scalars, slot.count);
      break;
    case Tag::String:
      slot.chars = copy_list(slot.chars, slot.count);
      break;
    case Tag::TensorList:
      save_list(slot, slot.tensor_list());
      break;
    case Tag::Object:
      Py_INCREF(slot.object);
      break;
    default:
      break;
  }
}

Object* record_call(const Op& op, KeySet keys, Value* args) {
  const NodeInfo* info = op.node;
  if (!info || !tls.grad_mode) return redispatch(op, keys & kBelow, args);
  if (info->fixed_shape && info->noutputs == 1) [[likely]]
    return record_single_output(op, *info, keys, args);
  return record_general(op, *info, keys, args);
}

Object* record_unary(const Op& op, KeySet keys, Value* args) { return record_leading_tensors<1>(op, keys, args); }
Object* record_binary(const Op& op, KeySet keys, Value* args) { return record_leading_tensors<2>(op, keys, args); }

namespace {
struct Layout {
  Dims sizes, strides;
  int64_t offset;

  explicit Layout(const Tensor& t) : sizes(t.sizes()), strides(t.strides()), offset(t.storage_offset()) {}
  bool operator==(const Layout& o) const {
    return std::ranges::equal(IntList(sizes), IntList(o.sizes)) &&
           std::ranges::equal(IntList(strides), IntList(o.strides)) && offset == o.offset;
  }
};
}  // namespace

Object* record_in_place(const Op& op, KeySet keys, Value* args) {
  Tensor& self = *args[0].tensor;
  const KeySet below = (keys & kBelow) | bit(Key::Watched);  // what requires grad may have been saved as an alias
  uint32_t nedges = 0;
  const bool self_grad = needs_grad(&self);
  // An op that overwrites self has no edge to it, and is recorded all the same.
  uint8_t present = tls.grad_mode && op.node ? requiring_grad(op, args, nedges) : 0;
  const bool recording = tls.grad_mode && op.node && (present || self_grad);
  const bool recorded = recording && is_differentiable(self.dtype());
  if (recorded || (tls.grad_mode && (self_grad || needs_grad(self.base)))) check_in_place(op, self);
  if (!recorded) return redispatch(op, below, args);

  const NodeInfo& info = *op.node;
  Node* node = new_node(info, nedges, info.nsaves, 1);
  auto node_owner = Ref<Node>::steal(node);
  collect_edges(op, args, *node);
  present |= kAnyEdge;
  if (self.base) present |= edge_bit(0);  // the root may require grad, whose gradient passes through edge 0
  TensorRef original;                     // the value before the write, if backward needs it
  const Value self_value = args[0];
  for (int k = 0; k < info.nsaves; ++k)
    if (info.saves[k].from == SaveFrom::Arg && info.saves[k].index == 0 && info.saves[k].edges & present && !original) {
      original = copy_of(self);
      copy_tangents(self, *original);
      args[0].tensor = original.get();
    }
  save_arguments(info, args, *node, present);
  args[0] = self_value;
  std::optional<Layout> before;
  if (self.base) before.emplace(self);
  auto owner = Ref<Object>::steal(redispatch(op, below, args));
  if (before && *before != Layout(self)) {  // transpose_ and its like write nothing: the root stays what it was
    regenerate_view(self);
    return owner.release();
  }
  rebase_history(self, *node);
  Tensor* results[] = {&self};
  save_results(info, results, *node, present);
  return owner.release();
}

Object* record_out(const Op& op, KeySet keys, Value* args) {
  if (!tls.grad_mode) return redispatch(op, keys & kBelow, args);
  bool differentiable = false;  // by the dtype of what is written to
  for (int i = 0; i < op.nargs; ++i)
    differentiable |= op.args[i].is_output && args[i].tensor && is_differentiable(args[i].tensor->dtype());
  bool requires_grad = false;
  for (uint32_t m = op.tensor_args; m; m &= m - 1) requires_grad |= needs_grad(args[__builtin_ctz(m)].tensor);
  for (uint32_t m = op.list_args; m; m &= m - 1)
    for (const Tensor* t : args[__builtin_ctz(m)].tensor_list()) requires_grad |= needs_grad(t);
  if (differentiable && requires_grad)
    fail(op.name,
         "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
         "requires grad.");
  return redispatch(op, keys & kBelow, args);
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
  if (value && is_inference(t) && !tls.inference_mode)
    fail("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (value) {
    t.keys |= bit(Key::Autograd);
    track(t);
  } else {
    t.keys &= ~bit(Key::Autograd);
  }
}

void detach_in_place(Tensor& t) {
  if (t.base && !is_inference(t)) fail("Can't detach views in-place. Use detach() instead.");
  drop_tangents(t);
  Node* old = std::exchange(t.grad_fn, nullptr);
  t.output_nr = 0;
  t.keys &= ~bit(Key::Autograd);
  Py_XDECREF(old);
}

}  // namespace vivace

// Derivatives along tangents: see derive.h.
#include "runtime/autograd/derive.h"

#include <algorithm>
#include <optional>

#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/reduce/truth.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"

namespace vivace {

DualArguments::DualArguments(const Op& op, const Value* args, int level) : args_(args), level_(level) {
  std::copy_n(args, op.nargs, primals_);
  for (uint32_t m = op.tensor_args; m; m &= m - 1) {
    Value& v = primals_[__builtin_ctz(m)];
    if (v.tensor) take(v.tensor);
  }
  for (uint32_t m = op.list_args; m; m &= m - 1) {
    Value& v = primals_[__builtin_ctz(m)];
    std::vector<Tensor*>& list = lists_.emplace_back(v.tensors, v.tensors + v.count);
    for (Tensor*& t : list)
      if (t) take(t);
    v.tensors = list.data();
  }
}

void DualArguments::take(Tensor*& slot) {
  Tensor& t = *slot;
  const Tensor* const tangent = tangent_of(t, level_);
  if (tangent) keys_ |= tangent->keys;
  if (levels_of(t) >> level_ || is_inference(t)) {  // what is derived may be saved
    owned_.push_back(primal_alias(t, level_));
    slot = owned_.back().get();
  }
  keys_ |= slot->keys;
}

namespace {

/// What a thread has set, restored at the end.
class StateGuard {
 public:
  StateGuard() : before_(tls) {}
  ~StateGuard() { tls = before_; }
  StateGuard(const StateGuard&) = delete;

 private:
  const ThreadState before_;
};

void add(TensorRef& sum, TensorRef more) {
  if (!more) return;
  sum = sum ? ops::add_Tensor(*sum, *more, 1) : std::move(more);
}

/// t expanded and converted.
TensorRef fitted(Tensor& t, IntList sizes, DType dtype) {
  TensorRef result = TensorRef::share(&t);
  if (!std::ranges::equal(t.sizes(), sizes)) result = ops::expand(t, sizes);
  if (is_complex(result->dtype()) && !is_complex(dtype)) result = ops::real(*result);
  return result->dtype() == dtype ? result : ops::_to_copy(*result, dtype);
}

/// A node of no graph, which holds what a derivative is computed from.
class Formula {
 public:
  Formula(const NodeInfo& info, const DualArguments& given, std::span<Tensor* const> outputs) {
    uint32_t nedges = 0;
    for (int i = 0; i < info.nedges; ++i) nedges += uint32_t(given.count(info.edge_args[i]));
    node_ = Ref<Node>::steal(new_node(info, nedges, info.nsaves, uint32_t(outputs.size())));
    node_->standalone = true;
    for (int k = 0; k < info.nsaves; ++k) {
      const SaveSpec spec = info.saves[k];
      if (spec.from == SaveFrom::Result) {
        node_->saved()[k] = Value::of(primal_alias(*outputs[spec.index], given.level()).release());
        node_->saved()[k].count = *node_->saved()[k].tensor->version_;
      } else {
        save_argument(*node_, k, given.primals());
      }
    }
  }
  ~Formula() { node_->standalone = false; }  // the node may be used again
  Formula(const Formula&) = delete;

  /// One gradient per edge.
  std::vector<TensorRef> operator()(Tensor* const* grads, Needs needs) {
    std::vector<TensorRef> results(node_->nedges);
    node_->info->apply(*node_, grads, reinterpret_cast<Tensor**>(results.data()), needs);
    return results;
  }

 private:
  Ref<Node> node_;
};

/// Calls f(edge, argument, tangent) for each edge whose argument has a tangent.
template <class F>
void for_each_tangent(const NodeInfo& info, const DualArguments& given, F&& f) {
  int edge = 0;
  for (int i = 0; i < info.nedges; ++i) {
    const int argument = info.edge_args[i];
    for (size_t k = 0; k < given.count(argument); ++k, ++edge)
      if (Tensor* const t = given.tangent(argument, k)) f(edge, i, *t);
  }
}

bool is_derived(const NodeInfo& info, std::span<Tensor* const> outputs, size_t i) {
  const bool marked = i < 32 && info.nondiff_outputs >> i & 1;
  return !marked && is_tensor(outputs[i]) && is_differentiable(outputs[i]->dtype());
}

// ---- elementwise

/// A complex backward is not its own transpose.
bool is_pointwise(const NodeInfo& info, const DualArguments& given, const Tensor& output) {
  if (!info.pointwise || is_complex(output.dtype())) return false;
  bool real = true;
  for_each_tangent(info, given, [&](int, int, const Tensor& t) { real &= !is_complex(t.dtype()); });
  return real;
}

TensorRef pointwise(const NodeInfo& info, const DualArguments& given, std::span<Tensor* const> outputs) {
  const StateGuard state;
  tls.grad_mode = tls.grad_mode && given.keys() & bit(Key::Autograd);
  tls.foreign_backward = is_foreign(given.keys());
  Formula formula(info, given, outputs);
  TensorRef sum;
  for_each_tangent(info, given, [&](int edge, int, Tensor& t) {
    const TensorRef whole =
        std::ranges::equal(t.sizes(), outputs[0]->sizes()) ? TensorRef::share(&t) : ops::expand(t, outputs[0]->sizes());
    Tensor* const grads[] = {whole.get()};
    add(sum, std::move(formula(grads, Needs(1) << edge)[size_t(edge)]));
  });
  return sum;
}

// ---- linear

/// For each linear argument that has a tangent: the op with the tangent in its place. What is added to the product, an
/// optional argument that it is not linear in, is left out.
void add_linear(const Op& op, const NodeInfo& info, const DualArguments& given, std::span<TensorRef> sums) {
  for (int i = 0; i < info.nedges; ++i) {
    const int argument = info.edge_args[i];
    bool any = false;
    for (size_t k = 0; k < given.count(argument); ++k) any |= given.tangent(argument, k) != nullptr;
    if (!any || !(info.linear >> i & 1)) continue;
    Value values[kMaxArguments];
    std::copy_n(given.primals(), op.nargs, values);
    for (int e = 0; e < info.nedges; ++e)
      if (!(info.linear >> e & 1)) values[info.edge_args[e]] = Value::of(static_cast<Tensor*>(nullptr));
    std::vector<TensorRef> owned;
    std::vector<Tensor*> list;
    if (given.is_list(argument)) {
      for (size_t k = 0; k < given.count(argument); ++k) {
        Tensor* const t = given.tangent(argument, k);
        owned.push_back(t ? TensorRef::share(t) : ops::zeros_like(*values[argument].tensors[k]));
        list.push_back(owned.back().get());
      }
      values[argument] = Value::of(TensorList(list));
    } else {
      values[argument] = Value::of(given.tangent(argument));
    }
    Object* result = dispatch(op, gather_keys(op, values), values);
    const auto owner = Ref<Object>::steal(result);
    const std::span<Tensor*> parts = result_tensors(result);
    for (size_t k = 0; k < sums.size(); ++k)
      if (is_derived(info, parts, k)) add(sums[k], TensorRef::share(parts[k]));
  }
}

// ---- by transposing the backward

[[noreturn, gnu::cold]] void refuse(const Op& op) {
  fail_not_implemented("Trying to use forward AD with ", op.name,
                       " that does not support it because its backward can't be differentiated.");
}

/// A gradient that does not follow what comes in is that of a function with zero slope, or nobody can differentiate it.
void check_zero(const Op& op, Tensor& gradient) {
  if (!gradient.is_meta() && *ops::any(gradient)->data<bool>()) refuse(op);
}

/// Adds what the arguments of the edges that `takes(i)` contribute.
template <class Takes>
void add_transposed(const Op& op, const NodeInfo& info, const DualArguments& given, std::span<Tensor* const> outputs,
                    std::span<TensorRef> sums, Takes&& takes) {
  Needs needs = 0;
  bool any = false;
  for_each_tangent(info, given, [&](int edge, int i, const Tensor& t) {
    if (!takes(i) || !t.numel()) return;
    any = true;
    if (edge < 64) needs |= Needs(1) << edge;
  });
  if (!any) return;
  const StateGuard state;
  const bool recording = tls.grad_mode && given.keys() & bit(Key::Autograd);
  tls.exclude &= ~bit(Key::Autograd);
  tls.include &= ~bit(Key::SavedHooks);
  tls.grad_mode = true;
  Formula formula(info, given, outputs);
  std::vector<TensorRef> incoming(outputs.size());
  std::vector<Tensor*> grads(outputs.size());
  std::vector<Endpoint> inputs;
  std::vector<size_t> places;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_tensor(outputs[k]) || !is_differentiable(outputs[k]->dtype())) continue;
    if (is_derived(info, outputs, k)) {  // any values but 0 will do, as the backward is linear in them
      incoming[k] = ops::ones_like(*outputs[k]);
      set_requires_grad(*incoming[k], true);
      inputs.push_back({incoming[k].get(), {}});
      places.push_back(k);
    } else if (info.wants_zeros) {
      incoming[k] = ops::zeros_like(*outputs[k]);
    }
    grads[k] = incoming[k].get();
  }
  if (inputs.empty()) return;
  const std::vector<TensorRef> pulled = formula(grads.data(), needs);
  std::vector<Endpoint> roots;
  std::vector<TensorRef> weights;
  std::vector<Tensor*> weight_pointers;
  for_each_tangent(info, given, [&](int edge, int i, Tensor& t) {
    Tensor* const root = pulled[size_t(edge)].get();
    if (!takes(i) || !root || !t.numel()) return;
    if (!root->requires_grad()) return check_zero(op, *root);
    roots.push_back({root, {}});
    weights.push_back(fitted(t, root->sizes(), root->dtype()));
    weight_pointers.push_back(weights.back().get());
  });
  if (roots.empty()) return;
  const BackwardOptions options{.keep_graph = recording, .create_graph = recording, .accumulate = false};
  std::vector<TensorRef> found;
  try {
    found = run_backward(roots, weight_pointers, inputs, options);
  } catch (const Error& error) {
    if (error.kind == ErrorKind::NotImplemented) refuse(op);
    throw;
  }
  tls.grad_mode = recording;
  for (size_t k = 0; k < places.size(); ++k) add(sums[places[k]], std::move(found[k]));
}

/// A tangent as an output's: none that another tensor has, which may be written to.
TensorRef finished(TensorRef t, const NodeInfo& info, const DualArguments& given, const Tensor& output) {
  t = fitted(*t, output.sizes(), output.dtype());
  bool shared = false;
  for_each_tangent(info, given, [&](int, int, const Tensor& other) { shared |= t->storage_ == other.storage_; });
  return shared ? ops::clone(*t, std::nullopt) : t;
}

}  // namespace

void derive(const Op& op, const DualArguments& given, std::span<Tensor* const> outputs, std::span<TensorRef> tangents) {
  const NodeInfo& info = *op.node;
  const Op& value_op = op.op_class == OpClass::InPlace && op.functional ? *op.functional : op;
  const bool is_linear = info.linear && value_op.op_class == OpClass::Plain;
  if (outputs.size() == 1 && is_derived(info, outputs, 0) && is_pointwise(info, given, *outputs[0])) {
    tangents[0] = pointwise(info, given, outputs);
  } else {
    if (is_linear) add_linear(value_op, info, given, tangents);
    add_transposed(op, info, given, outputs, tangents, [&](int i) { return !(is_linear && info.linear >> i & 1); });
  }
  bool depends = false;
  for_each_tangent(info, given, [&](int, int, const Tensor&) { depends = true; });
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (tangents[k])
      tangents[k] = finished(std::move(tangents[k]), info, given, *outputs[k]);
    else if (depends && is_derived(info, outputs, k))
      tangents[k] = ops::zeros_like(*outputs[k]);
  }
}

}  // namespace vivace
